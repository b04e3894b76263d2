/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests and limits.
 *
 * cpu: a request is a share (1024 a processor), a limit a quota in periods of 100 ms.  memory: a
 * limit is a limit.  A pod's demand is the sum of its containers', or what its largest init
 * container asks for beside the sidecars that run by then, whichever is more.
 *
 * Nobody has to set limits; a job that eats memory or forks without end must not take the machine
 * down all the same.  So all pods together leave it a twentieth of its memory (but at least 128 MiB
 * and at most 1 GiB) and a quarter of its tasks, and one container has at most a quarter of them.
 */
#include "src/cluster/node/pods/limits.h"

#include "src/json/quantity.h"

#define PERIOD_US 100000
/* More than any machine has, and little enough to be multiplied and summed. */
#define MOST_MILLI (INT64_MAX / PERIOD_US)
#define MOST_BYTES (INT64_MAX / 1000)
#define MIN_QUOTA_US 1000
#define MIN_SHARES 2
#define MAX_SHARES 262144
#define LEAST_REST (INT64_C(128) << 20)
#define MOST_REST (INT64_C(1) << 30)

static bool parse(const struct jsn *list, const char *key, struct quantity *ret)
{
    const char *text = jsn_text(jsn_key(list, key));

    return text && quantity_parse(str_of(text), ret, NULL) == 0;
}

int64_t limits_value(const struct jsn *list, const char *key, int64_t otherwise)
{
    struct quantity q;

    return parse(list, key, &q) ? MIN(quantity_value(&q), MOST_BYTES) : otherwise;
}

int64_t limits_milli(const struct jsn *list, const char *key, int64_t otherwise)
{
    struct quantity q;

    return parse(list, key, &q) ? MIN(quantity_milli(&q), MOST_MILLI) : otherwise;
}

void limits_of(const struct jsn *resources, struct ctr_limits *ret)
{
    const struct jsn *limits = jsn_key(resources, "limits");
    int64_t quota = limits_milli(limits, "cpu", 0);
    int64_t asked = limits_milli(jsn_key(resources, "requests"), "cpu", quota);
    int64_t shares = asked * 1024 / 1000;

    *ret = (struct ctr_limits){.cpu_shares = (uint64_t)MAX(MIN_SHARES, MIN(shares, MAX_SHARES))};
    if (quota > 0) {
        ret->cpu_period_us = PERIOD_US;
        ret->cpu_quota_us = MAX(MIN_QUOTA_US, quota * PERIOD_US / 1000);
    }
    ret->memory_bytes = MAX(0, limits_value(limits, "memory", 0));
}

void limits_of_cluster(int64_t memory_bytes, int64_t tasks, struct ctr_limits *ret)
{
    int64_t rest = MIN(MAX(memory_bytes / 20, LEAST_REST), MOST_REST);

    *ret = (struct ctr_limits){.memory_bytes = MAX(memory_bytes - rest, memory_bytes / 2),
                               .tasks = tasks / 4 * 3};
}

int64_t limits_tasks_each(int64_t tasks)
{
    return tasks / 4;
}

static struct pod_demand demand_of(const struct jsn *container)
{
    const struct jsn *requests = jsn_get(container, "resources.requests");
    const struct jsn *limits = jsn_get(container, "resources.limits");

    return (struct pod_demand){
        MAX(0, limits_milli(requests, "cpu", limits_milli(limits, "cpu", 0))),
        MAX(0, limits_value(requests, "memory", limits_value(limits, "memory", 0))),
    };
}

static struct pod_demand plus(struct pod_demand a, struct pod_demand b)
{
    return (struct pod_demand){a.cpu_milli + b.cpu_milli, a.memory_bytes + b.memory_bytes};
}

static struct pod_demand more(struct pod_demand a, struct pod_demand b)
{
    return (struct pod_demand){MAX(a.cpu_milli, b.cpu_milli), MAX(a.memory_bytes, b.memory_bytes)};
}

struct pod_demand limits_demand(const struct jsn *pod_spec)
{
    struct pod_demand all = {0};
    struct pod_demand beside = {0}; /* sidecars so far */
    struct pod_demand largest = {0};

    JSN_FOR_ITEMS (c, jsn_key(pod_spec, "initContainers")) {
        if (streq(jsn_get_str(c, "restartPolicy"), "Always")) {
            beside = plus(beside, demand_of(c));
            largest = more(largest, beside);
        } else {
            largest = more(largest, plus(beside, demand_of(c)));
        }
    }
    JSN_FOR_ITEMS (c, jsn_key(pod_spec, "containers"))
        all = plus(all, demand_of(c));
    return more(largest, plus(all, beside));
}
