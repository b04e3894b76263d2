/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The plan for a Controller.
 *
 * Steps in order: Finalizer, Internal Service, Service, Config, Keys, Successor, StatefulSet,
 * ClusterWorkerService, ClusterWorkerPDB, Active, ServiceMonitor, Status.  An external Controller
 * has no daemon here: it gets its configuration alone.
 *
 * A configuration that Slurm would refuse stops two steps: the ConfigMap and the StatefulSet (whose
 * template carries the configuration's hash) stay as they are, so that what runs goes on with the
 * last good one.  So does the StatefulSet while a slurmctld that serves has not taken it: what only
 * Slurm itself can tell is told by the agent.  A bad NodeSet is left out by the builder and named
 * in a condition; the rest of the cluster does not wait for it.
 */
#include "src/plan/controller.h"

#include "src/build/controller_app.h"
#include "src/build/controller_config.h"
#include "src/build/controller_service.h"
#include "src/build/labels.h"
#include "src/build/workers.h"
#include "src/plan/controller_private.h"
#include "src/plan/failure.h"
#include "src/plan/finalizer.h"
#include "src/plan/status.h"
#include "src/plan/sync.h"

#define MAP_AFTER_US 2000000

struct draft {
    const struct plan_controller *in;
    const struct build_cluster *cluster; /* as it runs; in->cluster: as it is declared */
    struct build_cluster live;
    struct upgrade_verdict upgrade;
    const struct controller *c;
    const char *namespace;
    struct actions *to;
    struct build_config config;
    struct api_problems problems;
    bool config_good;
    bool keys_made; /* by this plan: they are not there yet */
    struct keys_verdict keys;
};

static const struct jsn *observe(struct draft *d, const char *kind, const char *name)
{
    const struct jsn *v = NULL;

    (void)api_lookup_get(d->cluster->lookup, kind, d->namespace, name, &v);
    return v;
}

/* Bring about one object, if the builder made one. */
static void bring_about(struct draft *d, struct jsn *object)
{
    (void)sync_built(d->to, d->cluster->lookup, object);
}

static void plan_services(struct draft *d)
{
    actions_step(d->to, "Internal Service");
    if (!d->c->spec.external)
        bring_about(d, build_controller_internal(d->to->arena, d->cluster));
    actions_step(d->to, "Service");
    if (!d->c->spec.external)
        bring_about(d, build_controller_service(d->to->arena, d->cluster));
}

/* Is what slurmctld was last handed what it shall have? */
static bool is_handed_over(const struct draft *d)
{
    const struct slurm_applied *last = &d->in->slurm->applied;

    return streq(last->hash, d->config.hash) && last->reverts == build_reverts_drift(d->cluster);
}

/* Beside the ConfigMap, which takes its time to reach the pod. */
static void plan_push(struct draft *d)
{
    const struct jsn *body;

    if (!build_has_agent(d->cluster) || !d->in->slurm || is_handed_over(d))
        return;
    body = build_config_push(d->to->arena, d->cluster, &d->config);
    if (body)
        actions_push(d->to, d->namespace, d->c->meta.name, body);
}

/*
 * The ConfigMap is for the next pod.  Its way through the API server and the kubelets is not to
 * stand in the way of the push, so it is written when slurmctld's answer is there; of many edits in
 * a row, the last one.  Not later than a while, whatever the agent does; and the first one of all
 * at once.
 */
static bool map_waits(struct draft *d)
{
    const struct slurm_state *slurm = d->in->slurm;
    int64_t since = slurm && slurm->pushing_us ? slurm->pushing_us : d->in->now_us;

    if (!build_has_agent(d->cluster) || !slurm || slurm->down || !slurm->applied.hash ||
        is_handed_over(d) || d->in->now_us >= since + MAP_AFTER_US)
        return false;
    actions_requeue(d->to, since + MAP_AFTER_US);
    return true;
}

static void plan_config(struct draft *d)
{
    static const char *const options[] = {"Prolog", "Epilog"};

    actions_step(d->to, "Config");
    d->problems.arena = d->to->arena;
    d->config_good = build_config(d->to->arena, d->cluster, &d->config, &d->problems) == 0;
    if (!d->config_good)
        return;
    plan_push(d);
    if (!map_waits(d))
        bring_about(d, build_config_map(d->to->arena, d->cluster, &d->config));
    for (size_t i = 0; i < ARRAY_LEN(options); i++)
        bring_about(d, build_script_map(d->to->arena, d->cluster, options[i]));
}

/* Made once and kept: a key that is there is never changed, whoever made it. */
static void plan_key(struct draft *d, struct jsn *secret)
{
    if (!secret || observe(d, "Secret", jsn_get_str(secret, "metadata.name")))
        return;
    bring_about(d, secret);
    d->keys_made = true;
}

/* The agent's certificate is renewed before it expires, but only in a Secret of ours. */
static void plan_agent_key(struct draft *d, struct jsn *secret)
{
    struct jsn *patch = jsn_object(d->to->arena);
    const struct jsn *now =
        secret ? observe(d, "Secret", jsn_get_str(secret, "metadata.name")) : NULL;

    if (!now)
        plan_key(d, secret);
    if (!now || !streq(sync_controller_uid(now), d->c->meta.uid) ||
        jsn_equal(jsn_key(now, "data"), jsn_key(secret, "data")))
        return;
    jsn_set(d->to->arena, patch, "data", jsn_key(secret, "data"));
    sync_patch(d->to, plan_kind_find("Secret"), secret, patch);
}

static void plan_keys(struct draft *d)
{
    actions_step(d->to, "Keys");
    if (d->c->spec.external)
        return;
    plan_key(d, build_slurm_secret(d->to->arena, d->cluster, d->in->fresh.slurm));
    plan_key(d, build_jwt_secret(d->to->arena, d->cluster, d->in->fresh.jwt));
    if (d->in->fresh.agent)
        plan_agent_key(d, build_agent_secret(d->to->arena, d->cluster, d->in->fresh.agent));
    controller_plan_keys(d->in, d->to, &d->keys);
}

/*
 * Has the agent still to say whether slurmctld takes the configuration (which may have it restarted
 * on the way), or said no?  A slurmctld that serves is not ended for files that it may refuse:
 * their pod would have to start it from the old ones again.
 */
static bool awaits_verdict(const struct draft *d)
{
    const struct slurm_state *slurm = d->in->slurm;

    return build_has_agent(d->cluster) && slurm &&
           (!is_handed_over(d) || (!slurm->down && streq(slurm->applied.result, "refused")));
}

/* Its pods mount the keys, and its template holds hashes of them where there is no agent: it waits
 * for the next plan, which sees them. */
static void plan_stateful_set(struct draft *d)
{
    if (!d->c->spec.external && d->config_good && d->keys.known && !d->keys_made &&
        !(d->keys.written && !build_has_agent(d->cluster)) && !awaits_verdict(d) &&
        !d->upgrade.held)
        controller_plan_set(
            d->to, d->cluster->lookup,
            build_controller_app(d->to->arena, d->in->cluster, d->config.hash, &d->problems));
}

/* Owned by all NodeSets at once, and so written by nobody but the one who sees them all. */
static void plan_workers(struct draft *d)
{
    actions_step(d->to, "ClusterWorkerService");
    if (d->cluster->n_nodesets)
        bring_about(d, build_workers_service(d->to->arena, d->cluster));
    actions_step(d->to, "ClusterWorkerPDB");
    if (d->cluster->n_nodesets)
        bring_about(d, build_workers_pdb(d->to->arena, d->cluster));
}

static void set_active(struct draft *d, const struct plan_pod *p, bool active)
{
    struct arena *a = d->to->arena;
    struct jsn *patch = jsn_object(a);
    struct action *action;

    if (p->active == active || p->deleting)
        return;
    jsn_set(a, jsn_ensure_object(a, jsn_ensure_object(a, patch, "metadata"), "labels"),
            LABEL_ACTIVE, active ? jsn_string(a, "true") : jsn_null(a));
    action = actions_add(d->to, ACTION_PATCH);
    action->kind = plan_kind_find("Pod");
    action->namespace = p->namespace;
    action->name = p->name;
    action->body = patch;
}

/* The Service leads to one slurmctld: the first that is ready, or else the first. */
static void plan_active(struct draft *d)
{
    size_t active = 0;

    actions_step(d->to, "Active");
    for (size_t i = d->in->n_pods; i-- > 0;)
        if (d->in->pods[i]->ready && !d->in->pods[i]->deleting)
            active = i;
    for (size_t i = 0; i < d->in->n_pods; i++)
        set_active(d, d->in->pods[i], i == active);
}

static void plan_monitor(struct draft *d)
{
    const char *name = labels_controller(d->to->arena, d->c->meta.name);
    struct jsn *want;

    actions_step(d->to, "ServiceMonitor");
    if (!d->in->serves_monitors)
        return;
    want = build_service_monitor(d->to->arena, d->cluster);
    if (want)
        bring_about(d, want);
    else
        sync_absent(d->to, "ServiceMonitor", observe(d, "ServiceMonitor", name), d->c->meta.uid);
}

/* The name of a Secret that is referred to and is not there, or NULL. */
static const char *missing_key(struct draft *d)
{
    const struct api_key_ref refs[] = {controller_slurm_key(d->to->arena, d->c),
                                       controller_jwt_key(d->to->arena, d->c)};
    const bool ours[] = {controller_makes_slurm_key(d->c), controller_makes_jwt_key(d->c)};
    const bool needed[] = {true, !refs[1].optional};

    for (size_t i = 0; i < ARRAY_LEN(refs); i++)
        if (!ours[i] && needed[i] &&
            api_lookup_get(d->cluster->lookup, "Secret", d->namespace, refs[i].name, NULL) ==
                API_ABSENT)
            return refs[i].name;
    return NULL;
}

/* Where to look, or what keeps a pod of slurmctld from running. */
static const char *pod_trouble(struct draft *d)
{
    for (size_t i = 0; i < d->in->n_pods; i++)
        if (d->in->pods[i]->trouble && !d->in->pods[i]->deleting)
            return arena_printf(d->to->arena, "pod %s: %s", d->in->pods[i]->name,
                                d->in->pods[i]->trouble);
    return arena_printf(d->to->arena, "see pod %s-0",
                        labels_controller(d->to->arena, d->c->meta.name));
}

static bool was_down(const struct status_scribe *s)
{
    const struct api_condition *was = api_condition_find(s->conditions, "Ready");

    return was && streq(was->reason, "SlurmctldDown");
}

static void judge_ready(struct draft *d, struct status_scribe *s)
{
    const struct jsn *set =
        observe(d, "StatefulSet", labels_controller(d->to->arena, d->c->meta.name));
    int64_t ready = jsn_get_int(set, "status.readyReplicas", 0);
    const char *secret = missing_key(d);

    if (d->c->spec.external)
        status_set(s, "Ready", STATUS_TRUE, false, "External", "slurmctld runs elsewhere");
    else if (d->in->slurm && !d->in->slurm->down)
        status_set(s, "Ready", STATUS_TRUE, false, "SlurmctldReady", "slurmctld answers");
    else if (d->in->slurm && d->in->slurm->error)
        status_set(s, "Ready", STATUS_FALSE, true,
                   starts_with(d->in->slurm->error, "the libslurm process") ? "AgentFailed"
                                                                            : "ReleaseMismatch",
                   "%s", d->in->slurm->error);
    else if (d->in->slurm)
        status_set(s, "Ready", STATUS_FALSE, ready > 0, "SlurmctldDown",
                   "slurmctld does not answer its agent; see pod %s-0",
                   labels_controller(d->to->arena, d->c->meta.name));
    else if (ready > 0 && build_has_agent(d->cluster) && d->in->agent_trouble)
        status_set(s, "Ready", STATUS_UNKNOWN, false, "AgentUnreachable",
                   "slurmctld's pod is ready, but nothing is known of slurmctld: %s",
                   d->in->agent_trouble);
    else if (ready > 0 && was_down(s))
        return; /* the agent, who said so, is being asked again */
    else if (ready > 0)
        status_set(s, "Ready", STATUS_TRUE, false, "SlurmctldReady", "slurmctld answers");
    else if (secret)
        status_set(s, "Ready", STATUS_FALSE, true, "SecretNotFound",
                   "Secret %s is not there; create it, or remove the reference to have one made",
                   secret);
    else if (!d->config_good)
        status_set(s, "Ready", STATUS_FALSE, false, "ConfigInvalid",
                   "slurmctld is not started with a configuration that it would refuse; see "
                   "ConfigApplied");
    else
        status_set(s, "Ready", STATUS_FALSE, false, "SlurmctldNotReady",
                   "slurmctld does not answer yet; %s", pod_trouble(d));
}

/* What keeps a Controller that is being deleted; NULL: nothing. */
static const char *held_by(struct draft *d)
{
    AUTO(buf_done) struct buf names = {0};
    size_t jobs = 0;

    for (size_t i = 0; i < d->cluster->n_nodesets; i++)
        buf_printf(&names, "%s%s", i ? ", " : "", d->cluster->nodesets[i]->meta.name);
    if (d->cluster->n_nodesets)
        return arena_printf(d->to->arena,
                            "slurmctld stays for the jobs of %zu NodeSets; delete them first: %s",
                            d->cluster->n_nodesets, buf_str(&names));
    for (size_t i = 0; d->in->slurm && i < d->in->slurm->n; i++)
        jobs += d->in->slurm->nodes[i].jobs;
    return jobs ? arena_printf(d->to->arena, "slurmctld stays for jobs that run on other nodes")
                : NULL;
}

static void judge_deletion(struct draft *d, struct status_scribe *s)
{
    const char *held = d->c->meta.deleted_us ? held_by(d) : NULL;

    if (held)
        status_set(s, "Deleting", STATUS_TRUE, true, "WaitingForNodeSets",
                   "%s (or annotate the Controller with " FORCE_DELETE "=true)", held);
}

/* Returns whether there is more to do: the Controller lives on, if only for now. */
static bool plan_finalizer(struct draft *d)
{
    const struct api_meta *m = &d->c->meta;
    bool has = finalizer_has(m, FINALIZER_CONTROLLER);

    actions_step(d->to, "Finalizer");
    if (!m->deleted_us) {
        if (!has)
            finalizer_add(d->to, "Controller", m, FINALIZER_CONTROLLER);
        return true;
    }
    if (has && !finalizer_is_forced(m) && held_by(d))
        return true;
    if (has)
        finalizer_drop(d->to, "Controller", m, FINALIZER_CONTROLLER);
    return false;
}

static void plan_status(struct draft *d)
{
    struct controller_status st = d->c->status;
    struct api_conditions list = {
        arena_calloc(d->to->arena, st.conditions.n + 1, sizeof(struct api_condition)),
        st.conditions.n};
    struct status_scribe scribe = {d->to, &list, d->c->meta.generation, d->in->now_us};

    actions_step(d->to, "Status");
    if (list.n)
        memcpy(list.items, st.conditions.items, list.n * sizeof(*list.items));
    judge_ready(d, &scribe);
    controller_judge_config(
        &(struct config_verdict){d->in, &d->config, &d->problems, d->config_good}, &scribe);
    if (!d->c->spec.external)
        controller_judge_keys(&d->keys, &scribe);
    controller_judge_upgrade(d->in, &d->upgrade, &scribe);
    judge_deletion(d, &scribe);
    st.conditions = list;
    st.observed_generation = d->c->meta.generation;
    status_write(d->to, "Controller", &d->c->meta, jsn_get(d->in->object, "status"),
                 fields_encode(d->to->arena, controller_status_fields, &st));
}

/* Until slurmctld is another Slurm, all but its next pod is made for the one that it is. */
static void plan_upgrade(struct draft *d)
{
    controller_plan_upgrade(d->in, d->to->arena, &d->upgrade);
    if (!controller_upgrade_is_on(&d->upgrade))
        return;
    d->live = *d->in->cluster;
    d->live.runs = d->upgrade.runs;
    d->cluster = &d->live;
}

void plan_controller(const struct plan_controller *in, struct actions *to)
{
    struct draft d = {.in = in, .cluster = in->cluster, .c = in->cluster->controller, .to = to};

    if (!d.c) {
        plan_failure("Controller", in->object, "Invalid", "its spec cannot be read", in->now_us,
                     to);
        return;
    }
    d.namespace = api_namespace(&d.c->meta);
    if (!plan_finalizer(&d))
        return;
    plan_upgrade(&d);
    plan_services(&d);
    plan_config(&d);
    controller_upgrade_check_config(in, to->arena, &d.problems, &d.upgrade);
    plan_keys(&d);
    plan_stateful_set(&d);
    plan_workers(&d);
    plan_active(&d);
    plan_monitor(&d);
    plan_status(&d);
}
