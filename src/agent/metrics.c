/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Metrics of the agent.
 *
 * Counters are kept where things happen; what somebody else counts already (the link's calls, the
 * hub's watchers) is read when it is printed.
 */
#include "src/agent/metrics.h"

#include "src/base/alloc.h"

struct metrics {
    struct prometheus *registry;
    const struct hub *hub;
    struct link *link;
    struct prometheus_metric *pushes;
    struct prometheus_metric *seconds;
    struct prometheus_metric *steps;
    struct prometheus_metric *drift;
    struct prometheus_metric *requests;
    struct prometheus_metric *up;
    struct prometheus_metric *watchers;
    struct prometheus_metric *calls;
    struct prometheus_metric *children;
};

static void child_set(struct metrics *m, const char *lane, const char *what, uint64_t n)
{
    prometheus_set(prometheus_series(m->children, PROMETHEUS_LABELS(lane, what)), (double)n);
}

static void read_others(void *arg)
{
    static const char *const lanes[LANE_N] = {"read", "write", "parse"};
    struct metrics *m = arg;

    if (!m->hub)
        return;
    prometheus_set(prometheus_series(m->up, NULL), hub_up(m->hub));
    prometheus_set(prometheus_series(m->watchers, NULL), (double)hub_watchers(m->hub));
    for (unsigned i = 0; i < LANE_N; i++) {
        struct link_stats s = {0};

        link_lane_stats(m->link, (enum link_lane)i, &s);
        prometheus_set(prometheus_series(m->calls, PROMETHEUS_LABELS(lanes[i])), (double)s.calls);
        child_set(m, lanes[i], "start", s.starts);
        child_set(m, lanes[i], "timeout", s.timeouts);
        child_set(m, lanes[i], "death", s.deaths);
    }
}

struct metrics *metrics_new(void)
{
    struct metrics *m = xcalloc(1, sizeof(*m));
    struct prometheus *p = prometheus_new();

    m->registry = p;
    m->pushes = prometheus_counter(p, "slurmkeeper_agent_pushes_total",
                                   "Declarations by result and class.", "result,class");
    m->seconds = prometheus_histogram(p, "slurmkeeper_agent_apply_seconds",
                                      "From a declaration to its answer.", "class",
                                      prometheus_seconds, prometheus_n_seconds);
    m->steps = prometheus_histogram(p, "slurmkeeper_agent_step_seconds", "Steps of an apply.",
                                    "step", prometheus_seconds, prometheus_n_seconds);
    m->drift = prometheus_gauge(p, "slurmkeeper_agent_drift_fields",
                                "Settings of partitions that are not as declared.", NULL);
    m->requests =
        prometheus_counter(p, "slurmkeeper_agent_requests_total", "HTTP requests.", "route,code");
    m->up =
        prometheus_gauge(p, "slurmkeeper_agent_slurmctld_up", "1 while slurmctld answers.", NULL);
    m->watchers =
        prometheus_gauge(p, "slurmkeeper_agent_watchers", "Open long polls of the state.", NULL);
    m->calls = prometheus_gauge(p, "slurmkeeper_agent_slurm_calls",
                                "Calls of libslurm that were answered.", "lane");
    m->children = prometheus_gauge(p, "slurmkeeper_agent_slurm_children",
                                   "Starts and ends of the libslurm processes.", "lane,what");
    prometheus_on_print(p, read_others, m);
    return m;
}

struct metrics *metrics_free(struct metrics *m)
{
    if (!m)
        return NULL;
    (void)prometheus_free(m->registry);
    free(m);
    return NULL;
}

void metrics_watch(struct metrics *m, const struct hub *hub, struct link *link)
{
    m->hub = hub;
    m->link = link;
}

void metrics_push(struct metrics *m, const char *result, const char *class, double seconds)
{
    prometheus_add(prometheus_series(m->pushes, PROMETHEUS_LABELS(result, class)), 1);
    prometheus_observe(prometheus_series(m->seconds, PROMETHEUS_LABELS(class)), seconds);
}

void metrics_step(struct metrics *m, const char *step, double seconds)
{
    prometheus_observe(prometheus_series(m->steps, PROMETHEUS_LABELS(step)), seconds);
}

void metrics_drift(struct metrics *m, size_t fields)
{
    prometheus_set(prometheus_series(m->drift, NULL), (double)fields);
}

void metrics_request(struct metrics *m, const char *route, int status)
{
    char code[12];

    code[0] = (char)('0' + status / 100 % 10);
    code[1] = (char)('0' + status / 10 % 10);
    code[2] = (char)('0' + status % 10);
    code[3] = '\0';
    prometheus_add(prometheus_series(m->requests, PROMETHEUS_LABELS(route, code)), 1);
}

void metrics_print(struct metrics *m, struct buf *into)
{
    prometheus_print(m->registry, into);
}
