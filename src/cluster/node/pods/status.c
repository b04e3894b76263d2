/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The status of a pod: phase, conditions and container statuses, as a kubelet reports them.
 *
 * kubectl, controllers and people read reasons and messages here by their exact words, so these are
 * a kubelet's: ContainersNotReady, ContainersNotInitialized, PodCompleted, CrashLoopBackOff,
 * PodInitializing, ContainerCreating, Completed, Error, OOMKilled.
 */
#include "src/cluster/node/pods/status.h"

#include "src/base/clock.h"

static void set_time(struct arena *a, struct jsn *o, const char *key, int64_t wall_us)
{
    char text[CLOCK_RFC3339_LEN];

    if (!wall_us) {
        jsn_set(a, o, key, jsn_null(a));
        return;
    }
    clock_rfc3339(wall_us, text);
    jsn_set_str(a, o, key, text);
}

static void set_text(struct arena *a, struct jsn *o, const char *key, const char *text)
{
    if (text && text[0])
        jsn_set_str(a, o, key, text);
}

/* In a patch of a list of conditions what is not there any more must be named. */
static void set_text_or_null(struct arena *a, struct jsn *o, const char *key, const char *text)
{
    jsn_set(a, o, key, text && text[0] ? jsn_string(a, text) : jsn_null(a));
}

static struct jsn *terminated(struct arena *a, const struct ctr_end *end)
{
    struct jsn *t = jsn_object(a);
    struct jsn *state = jsn_object(a);

    if (end->id)
        jsn_set(a, t, "containerID", jsn_stringf(a, STATUS_ID_PREFIX "%s", end->id));
    jsn_set_int(a, t, "exitCode", end->exit_code);
    set_time(a, t, "finishedAt", end->finished_us);
    set_text(a, t, "message", end->message);
    set_text(a, t, "reason", end->reason);
    if (end->signal)
        jsn_set_int(a, t, "signal", end->signal);
    set_time(a, t, "startedAt", end->started_us);
    jsn_set(a, state, "terminated", t);
    return state;
}

static struct jsn *waiting(struct arena *a, const char *reason, const char *message)
{
    struct jsn *w = jsn_object(a);
    struct jsn *state = jsn_object(a);

    set_text(a, w, "message", message);
    set_text(a, w, "reason", reason);
    jsn_set(a, state, "waiting", w);
    return state;
}

static struct jsn *running(struct arena *a, int64_t started_us)
{
    struct jsn *r = jsn_object(a);
    struct jsn *state = jsn_object(a);

    set_time(a, r, "startedAt", started_us);
    jsn_set(a, state, "running", r);
    return state;
}

static bool is_waiting(const struct ctr_info *c)
{
    return c->phase == CTR_IDLE || c->phase == CTR_STARTING ||
           (c->phase == CTR_DOWN && c->waiting_reason);
}

/* What a container that has not started is waiting for. */
static const char *default_wait(const struct pod_spec *p, const struct pod_info *info, size_t i)
{
    if (i >= p->n_init ? info->initialized || p->n_init == 0 : i == 0)
        return "ContainerCreating";
    return "PodInitializing";
}

static struct jsn *state_of(struct arena *a, const struct pod_spec *p, const struct pod_info *info,
                            const struct ctr_info *c, size_t i)
{
    if (c->phase == CTR_UP || c->phase == CTR_STOPPING)
        return running(a, c->started_us);
    if (c->phase == CTR_DOWN && !c->waiting_reason)
        return terminated(a, &c->end);
    return waiting(a, c->waiting_reason ? c->waiting_reason : default_wait(p, info, i),
                   c->waiting_message);
}

static struct jsn *container_status(struct arena *a, const struct pod_spec *p,
                                    const struct pod_info *info, const struct ctr_info *c, size_t i)
{
    const struct ctr_spec *spec = &p->ctrs[i];
    const struct ctr_end *last = is_waiting(c) && c->end.set ? &c->end : &c->last;
    struct jsn *s = jsn_object(a);

    if (c->id)
        jsn_set(a, s, "containerID", jsn_stringf(a, STATUS_ID_PREFIX "%s", c->id));
    jsn_set_str(a, s, "image", spec->image);
    jsn_set_str(a, s, "imageID", c->id ? "host" : "");
    jsn_set(a, s, "lastState", last->set ? terminated(a, last) : jsn_object(a));
    jsn_set_str(a, s, "name", spec->name);
    jsn_set_bool(a, s, "ready",
                 spec->kind == CTR_INIT ? c->phase == CTR_DOWN && c->end.exit_code == 0 : c->ready);
    jsn_set_int(a, s, "restartCount", c->restarts);
    jsn_set_bool(a, s, "started", c->phase == CTR_UP && c->started);
    jsn_set(a, s, "state", state_of(a, p, info, c, i));
    return s;
}

/* Has the container ended for good, or is it between two runs? */
static bool has_ended(const struct ctr_info *c)
{
    return c->phase == CTR_DOWN || (c->phase == CTR_STARTING && (c->end.set || c->last.set));
}

/* "Pending", "Running", "Succeeded" or "Failed". */
static const char *status_phase(const struct pod_spec *p, const struct pod_info *info,
                                const struct ctr_info *ctrs)
{
    bool waits = false;

    if (info->outcome == POD_SUCCEEDED)
        return "Succeeded";
    if (info->outcome == POD_FAILED)
        return "Failed";
    if (!info->initialized && p->n_init > 0)
        return "Pending";
    for (size_t i = p->n_init; i < p->n; i++)
        waits = waits || ctrs[i].phase == CTR_IDLE ||
                (ctrs[i].phase == CTR_STARTING && !has_ended(&ctrs[i])) ||
                (ctrs[i].phase == CTR_DOWN && !ctrs[i].end.started_us && ctrs[i].waiting_reason &&
                 !ctrs[i].last.set && ctrs[i].restarts == 0);
    return waits ? "Pending" : "Running";
}

/* Is the container ready, in the sense of its pod's condition? */
static bool status_pod_ready(const struct pod_spec *p, const struct ctr_info *ctrs)
{
    for (size_t i = 0; i < p->n; i++)
        if (p->ctrs[i].kind != CTR_INIT && !ctrs[i].ready)
            return false;
    return true;
}

static const struct jsn *find_condition(const struct jsn *status, const char *type)
{
    JSN_FOR_ITEMS (item, jsn_key(status, "conditions"))
        if (streq(jsn_get_str(item, "type"), type))
            return item;
    return NULL;
}

struct condition {
    const char *type;
    bool holds;
    const char *reason;
    const char *message;
};

static void add_condition(struct arena *a, struct jsn *list, const struct condition *c,
                          const struct jsn *old, int64_t now_us)
{
    const struct jsn *was = find_condition(old, c->type);
    const char *status = c->holds ? "True" : "False";
    const char *since = jsn_get_str(was, "lastTransitionTime");
    struct jsn *o = jsn_object(a);

    jsn_set(a, o, "lastProbeTime", jsn_null(a));
    if (since && streq(jsn_get_str(was, "status"), status))
        jsn_set_str(a, o, "lastTransitionTime", since);
    else
        set_time(a, o, "lastTransitionTime", now_us);
    set_text_or_null(a, o, "message", c->message);
    set_text_or_null(a, o, "reason", c->reason);
    jsn_set_str(a, o, "status", status);
    jsn_set_str(a, o, "type", c->type);
    jsn_append(a, list, o);
}

static const char *list_names(struct arena *a, const struct pod_spec *p,
                              const struct ctr_info *ctrs, bool inits, const char *lead)
{
    AUTO(buf_done) struct buf b = {0};

    for (size_t i = 0; i < p->n; i++) {
        bool counts =
            inits ? i < p->n_init && !(p->ctrs[i].kind == CTR_INIT
                                           ? ctrs[i].phase == CTR_DOWN && ctrs[i].end.exit_code == 0
                                           : ctrs[i].started)
                  : p->ctrs[i].kind != CTR_INIT && !ctrs[i].ready;

        if (counts)
            buf_printf(&b, "%s%s", b.n ? " " : "", p->ctrs[i].name);
    }
    return arena_printf(a, "%s: [%s]", lead, buf_str(&b));
}

/* readinessGates: conditions that others set; all must be true. */
static bool gates_hold(const struct pod_spec *p, const struct jsn *old, const char **ret_missing)
{
    JSN_FOR_ITEMS (gate, jsn_get(p->json, "spec.readinessGates")) {
        const char *type = jsn_get_str(gate, "conditionType");

        if (!streq(jsn_get_str(find_condition(old, type), "status"), "True")) {
            *ret_missing = type;
            return false;
        }
    }
    return true;
}

static struct jsn *conditions(struct arena *a, const struct pod_spec *p,
                              const struct pod_info *info, const struct ctr_info *ctrs,
                              const struct jsn *old)
{
    struct jsn *list = jsn_array(a);
    bool done = info->outcome != POD_GOES_ON;
    bool ready = !done && status_pod_ready(p, ctrs) && info->initialized;
    const char *gate = NULL;
    struct condition initialized = {"Initialized", info->initialized, NULL, NULL};
    struct condition containers = {"ContainersReady", ready, NULL, NULL};
    struct condition network = {"PodReadyToStartContainers", info->sandbox && !done, NULL, NULL};
    struct condition scheduled = {"PodScheduled", true, NULL, NULL};
    struct condition pod;

    if (!info->initialized) {
        initialized.reason = "ContainersNotInitialized";
        initialized.message = list_names(a, p, ctrs, true, "containers with incomplete status");
    } else if (info->outcome == POD_SUCCEEDED) {
        initialized.reason = "PodCompleted";
    }
    if (done) {
        containers.reason = info->outcome == POD_SUCCEEDED ? "PodCompleted" : "PodFailed";
    } else if (!ready) {
        containers.reason = "ContainersNotReady";
        containers.message = list_names(a, p, ctrs, false, "containers with unready status");
    }
    pod = containers;
    pod.type = "Ready";
    if (ready && !gates_hold(p, old, &gate)) {
        pod.holds = false;
        pod.reason = "ReadinessGatesNotReady";
        pod.message = arena_printf(a,
                                   "corresponding condition of pod readiness gate \"%s\" does "
                                   "not exist or is not true.",
                                   gate);
    }
    add_condition(a, list, &network, old, info->now_us);
    add_condition(a, list, &initialized, old, info->now_us);
    add_condition(a, list, &pod, old, info->now_us);
    add_condition(a, list, &containers, old, info->now_us);
    add_condition(a, list, &scheduled, old, info->now_us);
    return list;
}

static struct jsn *one_address(struct arena *a, const char *key, const char *ip)
{
    struct jsn *list = jsn_array(a);
    struct jsn *o = jsn_object(a);

    jsn_set_str(a, o, key, ip);
    jsn_append(a, list, o);
    return list;
}

static struct jsn *container_statuses(struct arena *a, const struct pod_spec *p,
                                      const struct pod_info *info, const struct ctr_info *ctrs,
                                      size_t from, size_t to)
{
    struct jsn *list = jsn_array(a);

    for (size_t i = from; i < to; i++)
        jsn_append(a, list, container_status(a, p, info, &ctrs[i], i));
    return list;
}

struct jsn *status_build(struct arena *a, const struct pod_spec *p, const struct pod_info *info,
                         const struct ctr_info *ctrs, const struct jsn *old)
{
    struct jsn *s = jsn_object(a);

    jsn_set(a, s, "conditions", conditions(a, p, info, ctrs, old));
    jsn_set(a, s, "containerStatuses", container_statuses(a, p, info, ctrs, p->n_init, p->n));
    if (info->host_ip) {
        jsn_set_str(a, s, "hostIP", info->host_ip);
        jsn_set(a, s, "hostIPs", one_address(a, "ip", info->host_ip));
    }
    if (p->n_init > 0)
        jsn_set(a, s, "initContainerStatuses", container_statuses(a, p, info, ctrs, 0, p->n_init));
    set_text_or_null(a, s, "message", info->message);
    jsn_set_str(a, s, "phase", status_phase(p, info, ctrs));
    if (info->ip) {
        jsn_set_str(a, s, "podIP", info->ip);
        jsn_set(a, s, "podIPs", one_address(a, "ip", info->ip));
    }
    jsn_set_str(a, s, "qosClass", pod_spec_qos(p));
    set_text_or_null(a, s, "reason", info->reason);
    set_time(a, s, "startTime", info->start_us);
    return s;
}
