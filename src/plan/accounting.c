/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The plan for an Accounting.
 *
 * slurmctld and slurmdbd know each other by the cluster's key.  Which key that is follows from the
 * Controller that refers to the Accounting; the pod mounts the operator's copy of it (Secret
 * <controller>-keys).  In each stage of a change of the key the pod is made again, because the
 * stage stands in its template; controller_keys.c waits until a pod of that template runs.  With
 * munge the last stage changes nothing in the pod, so the pod stays.
 *
 * Why a pod is not ready is read from its log: slurmdbd stays up without its database, and nothing
 * else says what is wrong.
 */
#include "src/plan/accounting.h"

#include "src/build/labels.h"
#include "src/build/live_keys.h"
#include "src/plan/failure.h"
#include "src/plan/key_stage.h"
#include "src/plan/status.h"
#include "src/plan/sync.h"
#include "src/slurm/dbd_words.h"
#include "src/slurm/upgrade.h"

#define LOOK_US 3000000 /* how often a log is read while something is amiss */

struct acct_draft {
    const struct plan_accounting *in;
    const struct accounting *acct;
    const char *namespace;
    struct actions *to;
    struct arena *a;
    struct build_accounting build;
    /* Why slurmdbd cannot be as declared; NULL: it can. */
    const char *fault;
    const char *fault_text;
    bool cut;  /* the password ended with a line break */
    bool wait; /* what is missing comes by itself: not worth a warning */
};

static const struct jsn *observe(const struct acct_draft *d, const char *kind, const char *name)
{
    const struct jsn *v = NULL;

    (void)api_lookup_get(d->in->cluster->lookup, kind, d->namespace, name, &v);
    return v;
}

static void fail(struct acct_draft *d, const char *reason, const char *text)
{
    if (d->fault)
        return;
    d->fault = reason;
    d->fault_text = text;
}

/* With munge what follows a change is what its last stage gave. */
static const char *stage_of(struct acct_draft *d, const struct jsn *live)
{
    struct key_state s = {0};
    const struct jsn *notes = jsn_get(live, "metadata.annotations");

    if (!key_stage_parse(jsn_text(jsn_member(notes, STR(ANNOTATION_KEY_STAGE))), &s))
        return NULL;
    if (s.stage == KEY_REST && s.round > 0 && build_uses_munge(d->build.cluster))
        s.stage = KEY_SIGN;
    return key_stage_told(d->a, &s);
}

static void refuse_other_key(struct acct_draft *d, const char *field, const struct api_key_ref *own,
                             struct api_key_ref theirs, const char *otherwise)
{
    if (own && !api_key_ref_equal(own, &theirs))
        fail(d, "KeyMismatch",
             arena_printf(d->a,
                          "%s names another key than Controller %s has (%s of Secret %s): %s; "
                          "leave it out",
                          field, d->build.cluster->controller->meta.name, theirs.key, theirs.name,
                          otherwise));
}

static void use_controllers_keys(struct acct_draft *d)
{
    const struct controller *ctl = d->build.cluster->controller;
    const char *name = labels_keys(d->a, ctl->meta.name);
    const struct jsn *live = observe(d, "Secret", name);

    d->build.key_stage = stage_of(d, live);
    refuse_other_key(d, "spec.slurmKeyRef", d->acct->spec.slurm_key_ref,
                     controller_slurm_key(d->a, ctl),
                     "slurmctld and slurmdbd would not know each other");
    refuse_other_key(d, "spec.jwtKeyRef", accounting_jwt_key(d->acct),
                     controller_jwt_key(d->a, ctl),
                     "slurmdbd would take other tokens than slurmctld");
    if (!live) {
        d->wait = true;
        fail(d, "KeysAwaited",
             arena_printf(d->a, "waits for the keys of Controller %s, Secret %s", ctl->meta.name,
                          name));
    }
}

static void use_own_keys(struct acct_draft *d)
{
    const struct api_key_ref *ref = d->acct->spec.slurm_key_ref;

    d->build.own_keys = true;
    if (!ref)
        fail(d, "NoController",
             "no Controller of this namespace refers to it (spec.accountingRef), and "
             "spec.slurmKeyRef names no key");
    else if (!observe(d, "Secret", ref->name))
        fail(d, "SecretNotFound",
             arena_printf(d->a, "Secret %s of spec.slurmKeyRef is not there", ref->name));
}

/* Of an Accounting that no Controller refers to: it says as much of the cluster as is needed. */
static const struct build_cluster *cluster_without(struct acct_draft *d)
{
    struct build_cluster *cluster = arena_calloc(d->a, 1, sizeof(*cluster));
    struct controller *ctl = arena_calloc(d->a, 1, sizeof(*ctl));

    *cluster = *d->in->cluster;
    ctl->meta = d->acct->meta;
    ctl->spec.slurmctld = d->acct->spec.slurmdbd;
    ctl->spec.slurm_key_ref = d->acct->spec.slurm_key_ref;
    cluster->controller = ctl;
    return cluster;
}

static void settle_keys(struct acct_draft *d)
{
    const struct controller *ctl = d->in->cluster->controller;

    d->build.cluster = ctl ? d->in->cluster : cluster_without(d);
    if (ctl && !ctl->spec.external)
        use_controllers_keys(d);
    else
        use_own_keys(d);
}

static uint32_t template_release(const struct jsn *set)
{
    const struct jsn *notes = jsn_get(set, "spec.template.metadata.annotations");
    const char *said = jsn_text(jsn_member(notes, STR(API_RELEASE_ANNOTATION)));
    uint32_t release;

    return said && release_parse(str_of(said), &release, NULL) == 0 ? release : 0;
}

/* slurmdbd goes before slurmctld; a step that Slurm does not make changes nothing. */
static void check_step(struct acct_draft *d)
{
    const struct jsn *set = observe(d, "StatefulSet", labels_accounting(d->a, d->acct->meta.name));
    uint32_t wants = build_declared_release(d->build.cluster);
    struct upgrade_cluster c = {.runs = {[UPGRADE_SLURMDBD] = template_release(set)}};
    struct err e = {0};

    if (!set || !wants)
        return;
    if (d->in->slurmctld_release)
        (void)!release_parse(str_of(d->in->slurmctld_release), &c.runs[UPGRADE_SLURMCTLD], NULL);
    if (upgrade_check_part(&c, UPGRADE_SLURMDBD, wants, &e) == -EINVAL)
        fail(d, "StepNotAllowed", arena_strdup(d->a, e.text));
}

static void plan_service(struct acct_draft *d)
{
    actions_step(d->to, "Service");
    (void)sync_built(d->to, d->in->cluster->lookup, build_accounting_service(d->a, &d->build));
}

/* The Secret is made once and kept; a database that is not needed any more rests. */
static void plan_database(struct acct_draft *d)
{
    const char *name = labels_database(d->a, d->acct->meta.name);
    struct jsn *secret = build_database_secret(d->a, &d->build, d->in->random);

    actions_step(d->to, "Database");
    if (d->acct->spec.storage && !observe(d, "StatefulSet", name))
        return;
    if (secret && !observe(d, "Secret", name))
        (void)sync_built(d->to, d->in->cluster->lookup, secret);
    (void)sync_built(d->to, d->in->cluster->lookup, build_database_service(d->a, &d->build));
    (void)sync_built(d->to, d->in->cluster->lookup, build_database_app(d->a, &d->build));
}

static struct str find_password(struct acct_draft *d)
{
    struct api_key_ref ref = build_accounting_password(d->a, d->acct);
    const struct jsn *secret = observe(d, "Secret", ref.name);
    struct str password = build_secret_bytes(d->a, secret, ref.key);

    d->wait = d->wait || (!secret && !d->acct->spec.storage);
    if (!secret)
        fail(d, d->acct->spec.storage ? "SecretNotFound" : "PasswordAwaited",
             arena_printf(d->a, "Secret %s, with the password of the database, is not there",
                          ref.name));
    else if (!jsn_member(jsn_key(secret, "data"), str_of(ref.key)))
        fail(d, "SecretNotFound",
             arena_printf(d->a, "Secret %s has no key %s, the password of the database", ref.name,
                          ref.key));
    return password;
}

/* The Secret of slurmdbd.conf, kept as it should be; NULL: it cannot be made. */
static struct jsn *plan_config(struct acct_draft *d)
{
    struct str password = find_password(d);
    const struct jsn *now = observe(d, "Secret", labels_accounting(d->a, d->acct->meta.name));
    struct jsn *patch = jsn_object(d->a);
    struct jsn *secret = NULL;
    struct err e = {0};

    actions_step(d->to, "Config");
    if (d->fault)
        return NULL;
    if (build_accounting_conf(d->a, &d->build, password, &secret, &d->cut, &e) < 0) {
        struct api_key_ref ref = build_accounting_password(d->a, d->acct);

        fail(
            d, "PasswordRefused",
            arena_printf(d->a, "the password in Secret %s, key %s, %s", ref.name, ref.key, e.text));
        return NULL;
    }
    if (now && !streq(sync_controller_uid(now), d->acct->meta.uid)) {
        fail(d, "ConflictingController",
             arena_printf(d->a, "Secret %s is there and belongs to another object",
                          labels_accounting(d->a, d->acct->meta.name)));
        return NULL;
    }
    (void)sync_built(d->to, d->in->cluster->lookup, secret);
    if (now && !jsn_equal(jsn_key(now, "data"), jsn_key(secret, "data"))) {
        jsn_set(d->a, patch, "data", jsn_key(secret, "data"));
        sync_patch(d->to, plan_kind_find("Secret"), secret, patch);
    }
    return secret;
}

/* Tables are being changed by the slurmdbd of another release: it is not to be stopped for
 * anything else. */
static bool is_upgrading(const struct acct_draft *d)
{
    struct dbd_words words = dbd_words_read(str_of(d->in->slurmdbd_log ? d->in->slurmdbd_log : ""));

    return d->in->slurmdbd && !d->in->slurmdbd->ready && streq(words.reason, "SchemaUpgrade");
}

static void plan_slurmdbd(struct acct_draft *d, const struct jsn *secret)
{
    struct api_problems problems = {.arena = d->a};

    actions_step(d->to, "StatefulSet");
    if (!secret || is_upgrading(d))
        return;
    (void)sync_built(
        d->to, d->in->cluster->lookup,
        build_accounting_app(d->a, &d->build, build_accounting_hash(d->a, secret), &problems));
    for (size_t i = 0; i < problems.n; i++)
        actions_event(d->to, true, "Invalid", "%s: %s", problems.items[i].field,
                      problems.items[i].text);
}

bool plan_accounting_reads_log(const struct plan_pod *pod)
{
    return pod && !pod->ready && pod->phase == POD_RUNNING && !pod->deleting;
}

/* Say what a pod that is not ready says of itself. */
static void judge_pod(struct acct_draft *d, struct status_scribe *s, const struct plan_pod *pod,
                      const char *log, const char *what)
{
    struct dbd_words words = dbd_words_read(str_of(log ? log : ""));

    if (pod && pod->trouble && !words.reason)
        status_set(s, "Ready", STATUS_FALSE, true, "PodNotRunning", "pod %s: %s", pod->name,
                   pod->trouble);
    else if (words.reason)
        status_set(s, "Ready", STATUS_FALSE, !streq(words.reason, "SchemaUpgrade"), words.reason,
                   "%s: %.*s", words.text, (int)MIN(words.line.n, (size_t)400), words.line.p);
    else
        status_set(s, "Ready", STATUS_FALSE, false, what, "pod %s-0 does not answer yet",
                   streq(what, "DatabaseNotReady") ? labels_database(d->a, d->acct->meta.name)
                                                   : labels_accounting(d->a, d->acct->meta.name));
    actions_requeue(d->to, d->in->now_us + LOOK_US);
}

static void judge_ready(struct acct_draft *d, struct status_scribe *s)
{
    const struct plan_accounting *in = d->in;
    bool serves = in->slurmdbd && in->slurmdbd->ready && !in->slurmdbd->deleting;

    if (d->acct->spec.external)
        status_set(s, "Ready", STATUS_TRUE, false, "External", "slurmdbd runs elsewhere, at %s:%d",
                   accounting_host(d->a, d->acct), accounting_port(d->acct));
    else if (d->fault)
        status_set(s, "Ready", STATUS_FALSE, !d->wait, d->fault, "%s%s", d->fault_text,
                   serves ? "; slurmdbd goes on as it was" : "");
    else if (!d->acct->spec.storage && !(in->database && in->database->ready))
        judge_pod(d, s, in->database, in->database_log, "DatabaseNotReady");
    else if (!serves)
        judge_pod(d, s, in->slurmdbd, in->slurmdbd_log, "SlurmdbdNotReady");
    else
        status_set(s, "Ready", STATUS_TRUE, false, "SlurmdbdReady",
                   "slurmdbd answers and has its database%s",
                   d->cut ? "; the password in its Secret ends with a line break, which was left "
                            "out"
                          : "");
}

static void plan_status(struct acct_draft *d)
{
    struct accounting_status st = d->acct->status;
    struct api_conditions list = {
        arena_calloc(d->a, st.conditions.n + 1, sizeof(struct api_condition)), st.conditions.n};
    struct status_scribe scribe = {d->to, &list, d->acct->meta.generation, d->in->now_us};

    actions_step(d->to, "Status");
    if (list.n)
        memcpy(list.items, st.conditions.items, list.n * sizeof(*list.items));
    judge_ready(d, &scribe);
    st.conditions = list;
    st.observed_generation = d->acct->meta.generation;
    status_write(d->to, "Accounting", &d->acct->meta, jsn_get(d->in->object, "status"),
                 fields_encode(d->a, accounting_status_fields, &st));
}

void plan_accounting(const struct plan_accounting *in, struct actions *to)
{
    struct acct_draft d = {.in = in, .acct = in->acct, .to = to, .a = to->arena};

    if (!d.acct) {
        plan_failure("Accounting", in->object, "Invalid", "its spec cannot be read", in->now_us,
                     to);
        return;
    }
    if (d.acct->meta.deleted_us)
        return;
    d.namespace = api_namespace(&d.acct->meta);
    d.build.acct = d.acct;
    if (!d.acct->spec.external) {
        settle_keys(&d);
        check_step(&d);
        plan_service(&d);
        plan_database(&d);
        plan_slurmdbd(&d, plan_config(&d));
    }
    plan_status(&d);
}

/* All of its pods are of its template, as far as it says. */
static bool is_updated(const struct jsn *set)
{
    return jsn_get_int(set, "status.observedGeneration", 0) >=
               jsn_get_int(set, "metadata.generation", 0) &&
           jsn_get_int(set, "status.updatedReplicas", 0) == jsn_get_int(set, "status.replicas", 0);
}

uint32_t plan_accounting_runs(const struct jsn *set, uint32_t wants, uint32_t before)
{
    uint32_t release = template_release(set);

    if (!set)
        return 0;
    if (release == wants && is_updated(set) && jsn_get_int(set, "status.readyReplicas", 0) > 0)
        return release;
    return before;
}

bool plan_accounting_has_stage(const struct jsn *set, const char *stage)
{
    const struct jsn *notes = jsn_get(set, "spec.template.metadata.annotations");
    const char *given = jsn_text(jsn_member(notes, STR(ANNOTATION_KEY_STAGE)));

    return !set || (streq(given, stage) && is_updated(set));
}
