/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rows of pods.
 *
 * STATUS is the summary of a small state machine: it begins with the phase (or the pod's reason),
 * then
 *   - the first init container that has not ended well decides: Init:<reason>, Init:n/m;
 *   - if none is at work, the containers decide, the first one last: waiting or terminated reason;
 *   - "Completed" with a container still running is Running or NotReady;
 *   - a deletion under way is Terminating (Unknown if the node is lost).
 * Init containers that restart (sidecars) count as containers once they have started.
 */
#include "src/base/clock.h"
#include "src/cluster/apiserver/printers/cells.h"

struct summary {
    struct arena *arena;
    const struct jsn *pod;
    const char *reason;
    int64_t ready, total;
    int64_t restarts;
    int64_t last_restart_us; /* INT64_MIN: never */
    int64_t sidecar_restarts;
    int64_t sidecar_last_us;
    bool initializing;
};

static const struct jsn *find_container(const struct jsn *list, const char *name)
{
    JSN_FOR_ITEMS (item, list)
        if (streq(jsn_get_str(item, "name"), name))
            return item;
    return NULL;
}

static bool is_sidecar(const struct jsn *container)
{
    return streq(jsn_get_str(container, "restartPolicy"), "Always");
}

static bool condition_is(const struct jsn *pod, const char *type, const char *status)
{
    JSN_FOR_ITEMS (c, jsn_get(pod, "status.conditions"))
        if (streq(jsn_get_str(c, "type"), type))
            return streq(jsn_get_str(c, "status"), status);
    return false;
}

static int64_t last_end_us(const struct jsn *status)
{
    const char *time = jsn_get_str(status, "lastState.terminated.finishedAt");
    int64_t us;

    if (!time || clock_parse_rfc3339(str_of(time), &us) < 0)
        return INT64_MIN;
    return us;
}

static const char *ended_reason(struct arena *a, const struct jsn *terminated, const char *prefix)
{
    const char *reason = cells_text(terminated, "reason");
    int64_t signal = jsn_get_int(terminated, "signal", 0);

    if (reason[0] != '\0')
        return arena_printf(a, "%s%s", prefix, reason);
    if (signal != 0)
        return arena_printf(a, "%sSignal:%lld", prefix, (long long)signal);
    return arena_printf(a, "%sExitCode:%lld", prefix,
                        (long long)jsn_get_int(terminated, "exitCode", 0));
}

static void count_restarts(struct summary *s, const struct jsn *status, bool sidecar)
{
    int64_t n = jsn_get_int(status, "restartCount", 0);
    int64_t last = last_end_us(status);

    s->restarts += n;
    s->last_restart_us = MAX(s->last_restart_us, last);
    if (sidecar) {
        s->sidecar_restarts += n;
        s->sidecar_last_us = MAX(s->sidecar_last_us, last);
    }
}

/* Look at one init container; returns whether to go on to the next. */
static bool look_at_init(struct summary *s, const struct jsn *status, size_t i)
{
    const struct jsn *inits = jsn_get(s->pod, "spec.initContainers");
    const struct jsn *terminated = jsn_get(status, "state.terminated");
    const char *waiting = cells_text(status, "state.waiting.reason");
    bool sidecar = is_sidecar(find_container(inits, jsn_get_str(status, "name")));

    count_restarts(s, status, sidecar);
    if (terminated && jsn_get_int(terminated, "exitCode", 0) == 0)
        return true;
    if (sidecar && jsn_get_bool(status, "started", false)) {
        s->ready += jsn_get_bool(status, "ready", false);
        return true;
    }
    s->initializing = true;
    if (terminated)
        s->reason = ended_reason(s->arena, terminated, "Init:");
    else if (waiting[0] != '\0' && !streq(waiting, "PodInitializing"))
        s->reason = arena_printf(s->arena, "Init:%s", waiting);
    else
        s->reason = arena_printf(s->arena, "Init:%zu/%zu", i, jsn_len(inits));
    return false;
}

static void look_at_inits(struct summary *s)
{
    const struct jsn *statuses = jsn_get(s->pod, "status.initContainerStatuses");

    for (size_t i = 0; i < jsn_len(statuses); i++)
        if (!look_at_init(s, jsn_item(statuses, i), i))
            return;
}

/* Returns whether this container is ready and running. */
static bool look_at_container(struct summary *s, const struct jsn *status)
{
    const struct jsn *terminated = jsn_get(status, "state.terminated");
    const char *waiting = cells_text(status, "state.waiting.reason");

    count_restarts(s, status, false);
    if (waiting[0] != '\0')
        s->reason = waiting;
    else if (terminated)
        s->reason = ended_reason(s->arena, terminated, "");
    else
        return jsn_get_bool(status, "ready", false) && jsn_get(status, "state.running");
    return false;
}

static void look_at_containers(struct summary *s)
{
    const struct jsn *statuses = jsn_get(s->pod, "status.containerStatuses");
    bool running = false;

    s->restarts = s->sidecar_restarts;
    s->last_restart_us = s->sidecar_last_us;
    for (size_t i = jsn_len(statuses); i > 0; i--) {
        if (look_at_container(s, jsn_item(statuses, i - 1))) {
            running = true;
            s->ready++;
        }
    }
    if (streq(s->reason, "Completed") && running)
        s->reason = condition_is(s->pod, "Ready", "True") ? "Running" : "NotReady";
}

static const char *first_reason(const struct jsn *pod)
{
    const char *reason = cells_text(pod, "status.reason");

    JSN_FOR_ITEMS (c, jsn_get(pod, "status.conditions"))
        if (streq(jsn_get_str(c, "type"), "PodScheduled") &&
            streq(jsn_get_str(c, "reason"), "SchedulingGated"))
            return "SchedulingGated";
    return reason[0] != '\0' ? reason : cells_text(pod, "status.phase");
}

static void note_deletion(struct summary *s)
{
    const char *phase = cells_text(s->pod, "status.phase");

    if (!jsn_get_str(s->pod, "metadata.deletionTimestamp"))
        return;
    if (streq(jsn_get_str(s->pod, "status.reason"), "NodeLost"))
        s->reason = "Unknown";
    else if (!streq(phase, "Succeeded") && !streq(phase, "Failed"))
        s->reason = "Terminating";
}

static void summarize(struct summary *s)
{
    s->reason = first_reason(s->pod);
    s->last_restart_us = s->sidecar_last_us = INT64_MIN;
    s->total = (int64_t)jsn_len(jsn_get(s->pod, "spec.containers"));
    JSN_FOR_ITEMS (c, jsn_get(s->pod, "spec.initContainers"))
        s->total += is_sidecar(c);
    look_at_inits(s);
    if (!s->initializing || condition_is(s->pod, "Initialized", "True"))
        look_at_containers(s);
    note_deletion(s);
}

static void cell_restarts(struct cells *c, const struct summary *s)
{
    char age[CLOCK_AGE_LEN];

    if (s->restarts == 0 || s->last_restart_us == INT64_MIN) {
        cell_textf(c, "%lld", (long long)s->restarts);
        return;
    }
    clock_age((c->now_us - s->last_restart_us) / 1000000, age);
    cell_textf(c, "%lld (%s ago)", (long long)s->restarts, age);
}

static void cell_gates(struct cells *c)
{
    const struct jsn *gates = jsn_get(c->object, "spec.readinessGates");
    size_t good = 0;

    if (jsn_len(gates) == 0) {
        cell_text(c, "<none>");
        return;
    }
    JSN_FOR_ITEMS (gate, gates)
        good += condition_is(c->object, cells_text(gate, "conditionType"), "True");
    cell_textf(c, "%zu/%zu", good, jsn_len(gates));
}

static void print_pod(struct cells *c)
{
    struct summary s = {.arena = c->arena, .pod = c->object};
    const char *ip = cells_text(jsn_item(jsn_get(c->object, "status.podIPs"), 0), "ip");

    summarize(&s);
    cell_name(c);
    cell_textf(c, "%lld/%lld", (long long)s.ready, (long long)s.total);
    cell_text(c, s.reason);
    cell_restarts(c, &s);
    cell_age(c);
    cell_text(c, ip[0] != '\0' ? ip : "<none>");
    cell_at(c, "spec.nodeName", "<none>");
    cell_at(c, "status.nominatedNodeName", "<none>");
    cell_gates(c);
}

static struct jsn *pod_conditions(struct arena *a, const struct jsn *pod)
{
    const char *phase = cells_text(pod, "status.phase");
    bool good = streq(phase, "Succeeded");
    struct jsn *list;
    struct jsn *condition;

    if (!good && !streq(phase, "Failed"))
        return NULL;
    condition = jsn_object(a);
    jsn_set_str(a, condition, "type", "Completed");
    jsn_set_str(a, condition, "status", "True");
    jsn_set_str(a, condition, "reason", phase);
    jsn_set_str(a, condition, "message",
                good ? "The pod has completed successfully." : "The pod failed.");
    list = jsn_array(a);
    jsn_append(a, list, condition);
    return list;
}

static const struct printer_column pod_columns[] = {
    COLUMN_NAME,
    {"Ready", "string", "", "How many containers are ready, of how many.", 0},
    {"Status", "string", "", "Where the pod is in its life, in one word.", 0},
    {"Restarts", "string", "", "How often containers were started again, and when last.", 0},
    COLUMN_AGE,
    {"IP", "string", "", "Address of the pod.", 1},
    {"Node", "string", "", "Node that the pod is on.", 1},
    {"Nominated Node", "string", "", "Node on which room is being made for the pod.", 1},
    {"Readiness Gates", "string", "", "How many readiness gates are true, of how many.", 1},
};

const struct printer printer_pods = {
    .resource = "pods",
    .columns = pod_columns,
    .n_columns = ARRAY_LEN(pod_columns),
    .print = print_pod,
    .conditions = pod_conditions,
};

static void print_template(struct cells *c)
{
    cell_name(c);
    cell_containers(c, jsn_get(c->object, "template.spec.containers"));
    cell_labels(c, jsn_get(c->object, "template.metadata.labels"));
}

static const struct printer_column template_columns[] = {
    COLUMN_NAME,
    {"Containers", "string", "", "Names of the containers in the template.", 0},
    {"Images", "string", "", "Images of the containers in the template.", 0},
    {"Pod Labels", "string", "", "Labels of pods made from the template.", 0},
};

const struct printer printer_podtemplates = {
    .resource = "podtemplates",
    .columns = template_columns,
    .n_columns = ARRAY_LEN(template_columns),
    .print = print_template,
};
