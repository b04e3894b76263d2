/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pods: what counts about each, and the order in which they go.
 *
 * The order of deletion is Slinky's (not placed, pending, not ready, deletion cost, deadline of
 * jobs, cordoned, highest ordinal, latest), with one key before all: what is free goes before what
 * may run a job, since only that can go at once.  Idle ones go before those whose jobs would have
 * to be waited for; among these, one that is being drained already stays the one.
 */
#include "src/plan/pods.h"

#include "src/base/clock.h"
#include "src/build/labels.h"
#include "src/plan/pod_conditions.h"

static int64_t time_at(const struct jsn *v, const char *path)
{
    const char *text = jsn_get_str(v, path);
    int64_t us;

    return text && clock_parse_rfc3339(str_of(text), &us) == 0 ? us : 0;
}

static enum pod_phase read_phase(const char *text)
{
    static const char *const names[] = {"Pending", "Unknown", "Running", "Succeeded", "Failed"};

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (streq(text, names[i]))
            return (enum pod_phase)i;
    return text && text[0] ? POD_UNKNOWN : POD_PENDING;
}

static const char *text_of(struct arena *a, const struct jsn *v)
{
    const char *text = jsn_text(v);

    return text && text[0] ? arena_strdup(a, text) : NULL;
}

static const char *annotation(const struct jsn *v, const char *key)
{
    return jsn_text(jsn_member(jsn_get(v, "metadata.annotations"), str_of(key)));
}

static const char *label(const struct jsn *v, const char *key)
{
    return jsn_text(jsn_member(jsn_get(v, "metadata.labels"), str_of(key)));
}

static void read_ready(const struct jsn *v, struct plan_pod *p)
{
    JSN_FOR_ITEMS (c, jsn_get(v, "status.conditions")) {
        if (!streq(jsn_get_str(c, "type"), "Ready"))
            continue;
        p->ready = streq(jsn_get_str(c, "status"), "True");
        p->ready_us = time_at(c, "lastTransitionTime");
    }
}

/* A container that waits to be started (again) has no process, and jobs end with it. */
static bool read_off(const struct jsn *v)
{
    JSN_FOR_ITEMS (c, jsn_get(v, "status.containerStatuses"))
        if (streq(jsn_get_str(c, "name"), "slurmd"))
            return !jsn_get(c, "state.running") &&
                   (jsn_get(c, "state.waiting") || jsn_get(c, "state.terminated"));
    return false;
}

/* As Kubernetes writes such a cost: no plus, no leading zeros; anything else is 0. */
static int32_t read_cost(const char *text)
{
    int64_t v;

    if (!text || str_to_i64(str_of(text), &v) < 0 || v < INT32_MIN || v > INT32_MAX)
        return 0;
    if (text[0] == '+' || (text[0] == '0' && text[1]) || starts_with(text, "-0"))
        return 0;
    return (int32_t)v;
}

static void read_annotations(const struct jsn *v, struct plan_pod *p)
{
    const char *deadline = annotation(v, POD_DEADLINE);
    const char *registered = annotation(v, POD_REGISTERED);
    const char *again = annotation(v, ANNOTATION_REGISTER);
    int64_t us;

    p->cordoned =
        streq(annotation(v, POD_CORDON), "true") || streq(annotation(v, POD_CORDON_OLD), "true");
    p->cost = read_cost(annotation(v, POD_DELETION_COST));
    if (deadline && clock_parse_rfc3339(str_of(deadline), &us) == 0)
        p->deadline_us = us;
    p->record_checked = streq(annotation(v, ANNOTATION_RECORD_CHECKED), "true");
    if (registered && str_to_i64(str_of(registered), &us) == 0)
        p->registered_us = us;
    if (again && str_to_i64(str_of(again), &us) == 0)
        p->register_us = us;
}

static void read_owner(struct arena *a, const struct jsn *v, struct plan_pod *p)
{
    JSN_FOR_ITEMS (owner, jsn_get(v, "metadata.ownerReferences")) {
        if (!jsn_get_bool(owner, "controller", false))
            continue;
        p->owner_uid = text_of(a, jsn_get(owner, "uid"));
        p->owner_name = text_of(a, jsn_get(owner, "name"));
    }
}

/* Why a container does not run, or NULL: it does, or is on its way. */
static const char *container_trouble(struct arena *a, const struct jsn *pod, const struct jsn *c)
{
    const struct jsn *waiting = jsn_get(c, "state.waiting");
    const struct jsn *ended = jsn_get(c, "lastState.terminated");
    const char *name = jsn_get_str(c, "name");
    const char *reason = jsn_get_str(waiting, "reason");
    const char *message = jsn_get_str(ended ? ended : waiting, "message");

    if (!waiting || streq(reason, "ContainerCreating") || streq(reason, "PodInitializing"))
        return NULL;
    if (message && message[0])
        return arena_printf(a, "container %s: %.*s", name, (int)strcspn(message, "\n"), message);
    if (ended)
        return arena_printf(a, "container %s ended with status %lld; see kubectl logs %s -c %s -p",
                            name, (long long)jsn_get_int(ended, "exitCode", -1),
                            jsn_get_str(pod, "metadata.name"), name);
    return arena_printf(a, "container %s waits: %s", name, reason ? reason : "unknown");
}

static const char *read_trouble(struct arena *a, const struct jsn *v)
{
    static const char *const lists[] = {"status.initContainerStatuses", "status.containerStatuses"};

    JSN_FOR_ITEMS (c, jsn_get(v, "status.conditions"))
        if (streq(jsn_get_str(c, "type"), "PodScheduled") &&
            streq(jsn_get_str(c, "status"), "False"))
            return text_of(a, jsn_get(c, "message"));
    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        JSN_FOR_ITEMS (c, jsn_get(v, lists[i])) {
            const char *text = container_trouble(a, v, c);

            if (text)
                return text;
        }
    return NULL;
}

void plan_pod_decode(struct arena *a, const struct jsn *v, struct plan_pod *ret)
{
    struct plan_pod p = {0};
    const struct labels_app *app = labels_app_find(label(v, LABEL_NAME));
    const char *hash = label(v, POD_HASH_LABEL);
    const char *hostname = jsn_get_str(v, "spec.hostname");

    p.namespace = text_of(a, jsn_get(v, "metadata.namespace"));
    p.name = text_of(a, jsn_get(v, "metadata.name"));
    p.uid = text_of(a, jsn_get(v, "metadata.uid"));
    p.version = text_of(a, jsn_get(v, "metadata.resourceVersion"));
    read_owner(a, v, &p);
    p.hash = arena_strdup(a, hash ? hash : "");
    p.node_name = text_of(a, jsn_get(v, "spec.nodeName"));
    p.slurm_name = hostname && hostname[0] ? arena_strdup(a, hostname) : p.name;
    if (jsn_get_bool(v, "spec.hostNetwork", false))
        p.slurm_name = p.node_name;
    p.phase = read_phase(jsn_get_str(v, "status.phase"));
    p.off = read_off(v);
    p.deleting = jsn_get_str(v, "metadata.deletionTimestamp") != NULL;
    p.instance =
        text_of(a, jsn_member(jsn_get(v, "metadata.labels"), STR("app.kubernetes.io/instance")));
    p.of = app ? app->kind : KIND_NODESET;
    if (p.of == KIND_CONTROLLER)
        p.ip = text_of(a, jsn_get(v, "status.podIP"));
    p.active = streq(label(v, LABEL_ACTIVE), "true");
    p.protected = streq(label(v, LABEL_POD_PROTECT), "true");
    p.created_us = time_at(v, "metadata.creationTimestamp");
    p.slurm_bits = pod_conditions_read(a, jsn_get(v, "status.conditions"), &p.slurm_message);
    read_ready(v, &p);
    read_annotations(v, &p);
    p.trouble = p.ready ? NULL : read_trouble(a, v);
    *ret = p;
}

int64_t plan_pod_ordinal(const struct plan_pod *p, const char *set)
{
    size_t n = strlen(set);
    const char *digits;
    uint32_t v;

    if (!p->name || !starts_with(p->name, set) || p->name[n] != '-')
        return -1;
    digits = p->name + n + 1;
    return str_to_u32(str_of(digits), &v) == 0 && v <= INT32_MAX ? (int64_t)v : -1;
}

bool plan_pod_is_available(const struct plan_pod *p, int32_t min_ready_seconds, int64_t now_us)
{
    if (!p->ready || p->phase != POD_RUNNING || p->deleting)
        return false;
    return min_ready_seconds <= 0 || p->ready_us + min_ready_seconds * 1000000LL <= now_us;
}

bool plan_pod_is_over(const struct plan_pod *p)
{
    return p->phase == POD_SUCCEEDED || p->phase == POD_FAILED;
}

bool plan_pod_is_empty(const struct plan_pod *p)
{
    return plan_pod_is_over(p) || p->off || (p->phase == POD_PENDING && !p->node_name);
}

bool plan_pod_is_free(const struct plan_pod *p, const struct slurm_state *s)
{
    return plan_pod_is_empty(p) || slurm_state_is_free(s, p->slurm_name);
}

/* Is nothing known of its node, although others are?  One that has just become ready is about to
 * register, or to be seen: what was made last shall not stay because of that. */
static bool is_unknown(const struct plan_pod *p, const struct slurm_state *s, int64_t now_us)
{
    return s && !slurm_state_node(s, p->slurm_name) &&
           p->ready_us + PLAN_REGISTERS_WITHIN_US <= now_us;
}

/* How long it would have to be waited for: 0 not at all. */
static int64_t wait_for(const struct plan_pod *p, const struct slurm_state *s, int64_t now_us)
{
    const struct slurm_node *n = slurm_state_node(s, p->slurm_name);

    if (!n || n->jobs == 0)
        return is_unknown(p, s, now_us) ? INT64_MAX : p->deadline_us;
    return n->busy_until_us ? n->busy_until_us : INT64_MAX;
}

/* Would anything have to be waited for?  Without a word from Slurm nobody is told apart. */
static bool is_busy(const struct plan_pod *p, const struct slurm_state *s, int64_t now_us)
{
    const struct slurm_node *n = slurm_state_node(s, p->slurm_name);

    return is_unknown(p, s, now_us) || (n && n->jobs > 0);
}

static bool is_draining(const struct plan_pod *p, const struct slurm_state *s)
{
    const struct slurm_node *n = slurm_state_node(s, p->slurm_name);

    return n && (n->state & NODE_FLAG_DRAIN) && !(n->state & NODE_FLAG_UNDRAIN);
}

static int order(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

int plan_pod_deletion_order(const struct plan_pod *a, const struct plan_pod *b, const char *set,
                            const struct slurm_state *s, int64_t now_us)
{
    const int keys[] = {
        order(!plan_pod_is_free(a, s), !plan_pod_is_free(b, s)),
        order(a->node_name != NULL, b->node_name != NULL),
        order(a->phase, b->phase),
        order(a->ready, b->ready),
        order(a->cost, b->cost),
        order(is_busy(a, s, now_us), is_busy(b, s, now_us)),
        order(!is_draining(a, s), !is_draining(b, s)),
        order(wait_for(a, s, now_us), wait_for(b, s, now_us)),
        order(!a->cordoned, !b->cordoned),
        order(plan_pod_ordinal(b, set), plan_pod_ordinal(a, set)),
        order(b->ready_us, a->ready_us),
        order(b->created_us, a->created_us),
    };

    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        if (keys[i])
            return keys[i];
    return strcmp(a->name, b->name);
}
