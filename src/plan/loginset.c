/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The plan for a LoginSet.
 *
 * Host keys are made once and kept: whoever logs in would be told of an attack if they changed.  A
 * Secret of that name that somebody else has made is used as it is.
 *
 * What is missing stops the Deployment and nothing else, so that pods that run go on: the
 * Controller, the host keys, sssd.conf.  The Deployment's hashes would else be those of nothing,
 * and its pods be replaced by some that cannot start.
 */
#include "src/plan/loginset.h"

#include "src/build/labels.h"
#include "src/plan/failure.h"
#include "src/plan/status.h"
#include "src/plan/sync.h"

/* If the keys do not come: they were ordered by an operator that has ended. */
#define KEYS_AGAIN_US 10000000

struct draft {
    const struct plan_loginset *in;
    const struct loginset *l;
    struct actions *to;
    const char *namespace;
    const struct jsn *app; /* the Deployment as it is; NULL: none */
    struct api_problems problems;
    bool keys_there;
    bool users_there; /* sssd.conf */
};

static const struct jsn *observe(const struct plan_loginset *in, const char *kind, const char *name)
{
    const struct jsn *v = NULL;

    (void)api_lookup_get(in->cluster->lookup, kind, api_namespace(&in->l->meta), name, &v);
    return v;
}

bool plan_loginset_needs_keys(struct arena *a, const struct plan_loginset *in)
{
    return in->cluster->controller && !in->l->meta.deleted_us &&
           api_lookup_get(in->cluster->lookup, "Secret", api_namespace(&in->l->meta),
                          login_keys_name(a, in->l), NULL) == API_ABSENT;
}

static void bring_about(struct draft *d, struct jsn *object)
{
    (void)sync_built(d->to, d->in->cluster->lookup, object);
}

static void plan_host_keys(struct draft *d)
{
    actions_step(d->to, "SSH Host Keys");
    d->keys_there = observe(d->in, "Secret", login_keys_name(d->to->arena, d->l)) != NULL;
    if (d->keys_there)
        return;
    if (d->in->fresh)
        bring_about(d, build_login_keys(d->to->arena, d->l, d->in->fresh));
    else
        actions_requeue(d->to, d->in->now_us + KEYS_AGAIN_US);
}

static void plan_app(struct draft *d)
{
    actions_step(d->to, "Deployment");
    d->users_there = login_has_sssd_conf(d->in->cluster, d->l);
    if (d->keys_there && d->users_there)
        bring_about(d, build_login_app(d->to->arena, d->in->cluster, d->l, &d->problems));
}

/* How the Deployment's pods are. */
struct count {
    int64_t pods;
    int64_t ready;
    int64_t updated;
    int64_t leaving;
    bool fresh; /* the Deployment's status is of its present spec */
    const char *trouble;
    const char *troubled; /* the pod */
};

static void count_pods(const struct draft *d, struct count *n)
{
    n->pods = jsn_get_int(d->app, "status.replicas", 0);
    n->ready = jsn_get_int(d->app, "status.readyReplicas", 0);
    n->updated = jsn_get_int(d->app, "status.updatedReplicas", 0);
    n->fresh = jsn_get_int(d->app, "status.observedGeneration", 0) ==
               jsn_get_int(d->app, "metadata.generation", 0);
    for (size_t i = 0; i < d->in->n_pods; i++) {
        const struct plan_pod *p = d->in->pods[i];

        if (p->deleting) {
            n->leaving++;
        } else if (p->trouble && !n->trouble) {
            n->trouble = p->trouble;
            n->troubled = p->name;
        }
    }
}

static void judge_ready(struct draft *d, const struct count *n, struct status_scribe *s)
{
    const char *sssd = d->l->spec.sssd_conf_ref.name;

    if (!d->in->cluster->controller)
        status_set(s, "Ready", STATUS_FALSE, true, "ControllerNotFound",
                   "there is no Controller %s in namespace %s; create it, or name another one",
                   d->l->spec.controller_ref.name, d->namespace);
    else if (!d->users_there)
        status_set(s, "Ready", STATUS_FALSE, true, "SecretNotFound",
                   "Secret %s with a key %s (sssd.conf) is not there; create it%s", sssd,
                   d->l->spec.sssd_conf_ref.key, d->app ? ". Pods that run stay as they are" : "");
    else if (!d->keys_there)
        status_set(s, "Ready", STATUS_FALSE, false, "MakingHostKeys", "host keys are being made");
    else if (d->l->spec.replicas == 0)
        status_set(s, "Ready", STATUS_TRUE, false, "NoReplicas",
                   "no pods are wanted: spec.replicas is 0");
    else if (n->ready >= d->l->spec.replicas)
        status_set(s, "Ready", STATUS_TRUE, false, "LoginsReady", "%lld %s can be logged in to",
                   (long long)n->ready, word_for((uint64_t)n->ready, "pod", "pods"));
    else if (n->trouble)
        status_set(s, "Ready", STATUS_FALSE, true, "PodsInTrouble", "pod %s: %s", n->troubled,
                   n->trouble);
    else
        status_set(s, "Ready", STATUS_FALSE, false, "PodsNotReady",
                   "%lld of %d pods can be logged in to", (long long)n->ready, d->l->spec.replicas);
}

/* Do the pods have what the last edit says? */
static void judge_updated(struct draft *d, const struct count *n, struct status_scribe *s)
{
    bool done = n->fresh && n->updated >= d->l->spec.replicas && n->pods <= n->updated &&
                n->ready >= n->updated;

    if (!d->app)
        (void)api_condition_drop(s->conditions, "Updated");
    else if (done)
        status_set(s, "Updated", STATUS_TRUE, false, "AsDeclared", "all pods are as declared%s",
                   n->leaving ? "; others wait for the sessions in them to end" : "");
    else if (n->trouble)
        status_set(s, "Updated", STATUS_FALSE, true, "PodsInTrouble", "pod %s: %s", n->troubled,
                   n->trouble);
    else
        status_set(s, "Updated", STATUS_FALSE, false, "RollingOut",
                   "%lld of %d pods are as declared", (long long)n->updated, d->l->spec.replicas);
}

/* The Deployment's own, for those who know them. */
static void pass_conditions(struct draft *d, struct status_scribe *s)
{
    static const char *const types[] = {"Available", "Progressing"};

    JSN_FOR_ITEMS (c, jsn_get(d->app, "status.conditions"))
        for (size_t i = 0; i < ARRAY_LEN(types); i++) {
            const char *reason = jsn_get_str(c, "reason");
            const char *message = jsn_get_str(c, "message");

            if (streq(jsn_get_str(c, "type"), types[i]))
                status_set(s, types[i],
                           streq(jsn_get_str(c, "status"), "True") ? STATUS_TRUE : STATUS_FALSE,
                           false, reason && reason[0] ? reason : "Unknown", "%s",
                           message ? message : "");
        }
}

static void plan_status(struct draft *d)
{
    struct arena *a = d->to->arena;
    struct loginset_status st = d->l->status;
    struct api_conditions list = {
        arena_calloc(a, st.conditions.n + 1, sizeof(struct api_condition)), st.conditions.n};
    struct status_scribe scribe = {d->to, &list, d->l->meta.generation, d->in->now_us};
    struct count n = {0};

    actions_step(d->to, "Status");
    if (list.n)
        memcpy(list.items, st.conditions.items, list.n * sizeof(*list.items));
    count_pods(d, &n);
    judge_ready(d, &n, &scribe);
    judge_updated(d, &n, &scribe);
    pass_conditions(d, &scribe);
    st.conditions = list;
    st.observed_generation = d->l->meta.generation;
    st.replicas = (int32_t)n.pods;
    st.ready_replicas = (int32_t)n.ready;
    st.selector = labels_selector_text(a, APP_LOGIN, d->l->meta.name);
    status_write(d->to, "LoginSet", &d->l->meta, jsn_get(d->in->object, "status"),
                 fields_encode(a, loginset_status_fields, &st));
}

void plan_loginset(const struct plan_loginset *in, struct actions *to)
{
    struct draft d = {.in = in,
                      .l = in->l,
                      .to = to,
                      .namespace = api_namespace(&in->l->meta),
                      .problems = {.arena = to->arena}};

    if (in->l->meta.deleted_us)
        return; /* what it owns goes with it */
    d.app = observe(in, "Deployment", in->l->meta.name);
    if (in->cluster->controller) {
        plan_host_keys(&d);
        actions_step(to, "SSH Config");
        bring_about(&d, build_login_config(to->arena, in->l));
        actions_step(to, "Service");
        bring_about(&d, build_login_service(to->arena, in->l));
        plan_app(&d);
    }
    plan_status(&d);
}
