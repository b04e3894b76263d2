/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A Controller's keys.
 *
 * What its pods mount is Secret <name>-keys (src/build/live_keys.h).  It follows the Secrets that
 * the Controller names: the first time at once; later in the stages of key_stage.c, which are kept
 * in the Secret itself, so that whoever plans next goes on from there.  A key that daemons would
 * not take is not copied, and the condition KeysCurrent says why.
 *
 * A stage is over when everybody has what it brings.  The agent reports that of slurmctld, and each
 * node in its comment in Slurm ("[keys 3-accept]").  A node whose slurmd does not answer and which
 * runs no job is not waited for: it gets the keys when it starts.  Images without our start scripts
 * do not report; with auth/slurm their slurmd has read what was there when it started, so one that
 * has started after the Secret must have arrived counts.  Without an agent nothing of this is
 * known, and a stage lasts as long as kubelets may take to bring a Secret.  Login pods have no node
 * that could report; where there are any, a stage lasts as long, or as long as the overlap if that
 * is less.
 */
#include "src/base/clock.h"
#include "src/build/labels.h"
#include "src/build/live_keys.h"
#include "src/plan/accounting.h"
#include "src/plan/controller_private.h"
#include "src/plan/sync.h"
#include "src/slurm/keyfiles.h"

#define OVERLAP_DEFAULT_S 300 /* credentials of munge and auth/slurm live no longer */
#define UNSEEN_US (180 * 1000000LL)
#define LOOK_US 1000000
#define SHOWN 3

struct keys_draft {
    const struct plan_controller *in;
    const struct build_cluster *cluster;
    const struct controller *c;
    struct actions *to;
    struct arena *a;
    struct keys_verdict *v;
    const struct jsn *live; /* NULL: it is not there */
};

static const struct jsn *find_secret(const struct keys_draft *d, const char *name)
{
    const struct jsn *v = NULL;

    (void)api_lookup_get(d->cluster->lookup, "Secret", api_namespace(&d->c->meta), name, &v);
    return v;
}

/* A key of the Controller's, if it is there and good; else empty, and the verdict says why. */
static struct str wanted_key(const struct keys_draft *d, enum key_shape shape)
{
    struct api_key_ref ref =
        shape == KEY_JWT ? controller_jwt_key(d->a, d->c) : controller_slurm_key(d->a, d->c);
    bool is_set = shape != KEY_JWT && controller_has_key_set(d->c);
    const struct jsn *secret = find_secret(d, ref.name);
    struct str value = build_secret_bytes(d->a, secret, ref.key);
    struct err e = {0};

    if (!secret)
        return (struct str){0}; /* told by Ready */
    if (key_check(shape, is_set, value, &e) == 0)
        return value;
    d->v->refused = arena_printf(d->a, "Secret %s: %s %s", ref.name, ref.key, e.text);
    return (struct str){0};
}

static struct key_state read_state(const struct keys_draft *d)
{
    struct key_state s = {.current = build_secret_bytes(d->a, d->live, LIVE_KEYS_CURRENT),
                          .other = build_secret_bytes(d->a, d->live, LIVE_KEYS_OTHER)};
    const struct jsn *notes = jsn_get(d->live, "metadata.annotations");
    const char *since = jsn_text(jsn_key(notes, ANNOTATION_KEY_SINCE));

    if (!key_stage_parse(jsn_text(jsn_key(notes, ANNOTATION_KEY_STAGE)), &s) || !s.other.n)
        s.stage = KEY_REST;
    if (!since || clock_parse_rfc3339(str_of(since), &s.since_us) < 0)
        s.since_us = d->in->now_us;
    return s;
}

/* Is nobody at this node, and no job either? */
static bool is_vacant(const struct slurm_node *n)
{
    const uint32_t away = NODE_FLAG_NO_RESPOND | NODE_FLAG_POWERED_DOWN | NODE_FLAG_POWERING_UP;
    unsigned base = nodestate_base(n->state);

    return n->jobs_known && n->jobs == 0 &&
           (base == NODE_BASE_DOWN || base == NODE_BASE_FUTURE || (n->state & away));
}

/* What this stage gave must have arrived in every pod by then. */
static int64_t arrived_us(const struct key_state *now)
{
    return now->since_us + UNSEEN_US;
}

/* munged is started with the pod, and not with slurmd. */
static bool has_read(const struct keys_draft *d, const struct slurm_node *n, const char *mark,
                     const struct key_state *now)
{
    return (n->comment && strstr(n->comment, mark)) ||
           (!build_uses_munge(d->cluster) && n->started_us >= arrived_us(now));
}

/* An external one has keys of its own; one that is not there gets them when it starts. */
static bool slurmdbd_has(const struct keys_draft *d, const char *stage)
{
    const struct accounting *acct = d->cluster->accounting;
    const struct jsn *set = NULL;

    if (!acct || acct->spec.external ||
        api_lookup_get(d->cluster->lookup, "StatefulSet", api_namespace(&d->c->meta),
                       labels_accounting(d->a, acct->meta.name), &set) != API_PRESENT)
        return true;
    return plan_accounting_has_stage(set, stage);
}

/* Count who has the stage; names of some who have not. */
static bool count_holders(struct keys_draft *d, const struct key_state *now)
{
    const struct slurm_state *slurm = d->in->slurm;
    const char *stage = key_stage_told(d->a, now);
    const char *mark = arena_printf(d->a, "[keys %s]", stage);
    AUTO(buf_done) struct buf names = {0};
    unsigned missing = 0;

    if (!slurm || slurm->down)
        return false;
    d->v->slurmctld_has = streq(slurm->key_stage, stage);
    for (size_t i = 0; i < slurm->n; i++) {
        const struct slurm_node *n = &slurm->nodes[i];

        if (is_vacant(n))
            continue;
        d->v->nodes++;
        if (has_read(d, n, mark, now))
            d->v->nodes_have++;
        else if (missing++ < SHOWN)
            buf_printf(&names, "%s%s", missing > 1 ? ", " : "", n->name);
    }
    if (missing > SHOWN)
        buf_adds(&names, ", ...");
    d->v->missing = arena_strdup(d->a, buf_str(&names));
    d->v->slurmdbd_lacks = !slurmdbd_has(d, stage);
    return d->v->slurmctld_has && missing == 0 && !d->v->slurmdbd_lacks;
}

static int64_t overlap_us(const struct keys_draft *d)
{
    const char *said = api_annotation(&d->c->meta, API_KEY_OVERLAP_ANNOTATION);
    int64_t seconds;

    if (!said || str_to_i64(str_of(said), &seconds) < 0 || seconds < 0 || seconds > 86400)
        seconds = OVERLAP_DEFAULT_S;
    return seconds * 1000000;
}

static struct jsn *notes_of(const struct keys_draft *d, const struct key_state *s)
{
    struct jsn *notes = jsn_object(d->a);
    char since[CLOCK_RFC3339_LEN];

    clock_rfc3339_micro(s->since_us, since);
    jsn_set_str(d->a, notes, ANNOTATION_KEY_STAGE, key_stage_text(d->a, s));
    jsn_set_str(d->a, notes, ANNOTATION_KEY_SINCE, since);
    return notes;
}

/* What is there and shall not be becomes null. */
static void patch_live(struct keys_draft *d, struct jsn *secret)
{
    struct jsn *patch = jsn_object(d->a);
    struct jsn *data = jsn_clone(d->a, jsn_key(secret, "data"));

    JSN_FOR_MEMBERS (m, jsn_key(d->live, "data"))
        if (!jsn_member(data, m->key))
            jsn_set_member(d->a, data, m->key, jsn_null(d->a));
    jsn_set(d->a, patch, "data", data);
    jsn_set(d->a, jsn_ensure_object(d->a, patch, "metadata"), "annotations",
            jsn_get(secret, "metadata.annotations"));
    sync_patch(d->to, plan_kind_find("Secret"), secret, patch);
}

/* Write the state, if it or what is made of it differs from what is there. */
static int write_state(struct keys_draft *d, const struct key_state *s, struct str jwt,
                       struct err *e)
{
    struct build_live_keys keys = {key_stage_told(d->a, s), s->current, s->other, jwt};
    struct jsn *data = NULL;
    struct jsn *secret;
    int r = build_live_data(d->a, d->cluster, &keys, &data, e);

    if (r < 0)
        return r;
    secret = build_live_secret(d->a, d->cluster, data, notes_of(d, s));
    if (!d->live)
        (void)sync_built(d->to, d->cluster->lookup, secret);
    else if (!jsn_equal(jsn_key(d->live, "data"), data) ||
             !streq(
                 jsn_text(jsn_key(jsn_get(d->live, "metadata.annotations"), ANNOTATION_KEY_STAGE)),
                 key_stage_text(d->a, s)))
        patch_live(d, secret);
    else
        return 0;
    d->v->written = true;
    return 0;
}

/* From the state at hand to the next one. */
static void follow(struct keys_draft *d, struct str wanted, struct str jwt)
{
    struct key_state now = read_state(d);
    struct key_facts f = {.wanted = wanted,
                          .overlaps = build_key_shape(d->cluster) != KEY_SLURM_ONE,
                          .overlap_us = overlap_us(d),
                          .now_us = d->in->now_us};
    struct key_state next;
    struct err e = {0};

    if (!now.current.n)
        now = (struct key_state){.current = wanted, .since_us = d->in->now_us};
    f.all_have = now.stage != KEY_REST && count_holders(d, &now);
    if (!build_has_agent(d->cluster))
        f.all_have = d->in->now_us >= arrived_us(&now);
    else if (f.all_have && d->cluster->n_loginsets)
        f.all_have = d->in->now_us >= now.since_us + MIN(UNSEEN_US, f.overlap_us);
    next = key_stage_next(&now, &f);
    if (write_state(d, &next, jwt, &e) < 0) {
        struct api_key_ref ref = controller_slurm_key(d->a, d->c);

        d->v->refused = arena_printf(d->a, "Secret %s: %s %s", ref.name, ref.key, e.text);
        next = now;
    }
    d->v->state = next;
    if (next.stage == now.stage && !build_uses_munge(d->cluster) &&
        d->in->now_us >= arrived_us(&now))
        d->v->arrived_us = arrived_us(&now);
    if (next.stage == KEY_SETTLE)
        actions_requeue(d->to, next.since_us + f.overlap_us);
    else if (next.stage != KEY_REST)
        actions_requeue(d->to, d->in->now_us + LOOK_US);
}

void controller_plan_keys(const struct plan_controller *in, struct actions *to,
                          struct keys_verdict *v)
{
    struct keys_draft d = {.in = in,
                           .cluster = in->cluster,
                           .c = in->cluster->controller,
                           .to = to,
                           .a = to->arena,
                           .v = v};
    const char *uid;
    struct str wanted;
    struct str jwt;

    d.live = find_secret(&d, labels_keys(d.a, d.c->meta.name));
    uid = sync_controller_uid(d.live);
    if (d.live && uid && !streq(uid, d.c->meta.uid)) {
        v->refused = arena_printf(d.a, "Secret %s is there and belongs to another object",
                                  labels_keys(d.a, d.c->meta.name));
        return;
    }
    wanted = wanted_key(&d, build_key_shape(in->cluster));
    jwt = wanted_key(&d, KEY_JWT);
    if (!jwt.n)
        jwt = build_secret_bytes(d.a, d.live, KEYFILE_JWT);
    if (!d.live && (!wanted.n || (!jwt.n && !controller_jwt_key(d.a, d.c).optional)))
        return;
    v->known = true;
    follow(&d, wanted, jwt);
}

/* What a person can do about nodes that do not tell; "" if there are none, or it is too early. */
static const char *way_on(const struct keys_verdict *v, struct arena *a)
{
    char time[CLOCK_RFC3339_LEN];

    if (!v->arrived_us || !v->missing || !v->missing[0])
        return "";
    clock_rfc3339(v->arrived_us, time);
    return arena_printf(a,
                        "; a node whose image does not tell counts when its slurmd has started "
                        "after %s: `scontrol reconfigure` does that, and so does a new pod",
                        time);
}

static void judge_progress(const struct keys_verdict *v, struct status_scribe *s)
{
    const char *doing = v->state.stage == KEY_ACCEPT
                            ? "all learn to accept the new key, and sign with the old one"
                            : "all begin to sign with the new key, and accept both";

    if (v->state.stage == KEY_SETTLE)
        status_set(s, "KeysCurrent", STATUS_TRUE, false, "Settling",
                   "all sign with the new key; the old one is accepted until what was signed "
                   "with it has arrived");
    else
        status_set(s, "KeysCurrent", STATUS_FALSE, false,
                   v->state.stage == KEY_ACCEPT ? "Accepting" : "Signing",
                   "the key changes: %s; slurmctld %s, and %u of %u nodes do%s%s%s%s", doing,
                   v->slurmctld_has ? "does" : "does not yet", v->nodes_have, v->nodes,
                   v->missing && v->missing[0] ? " (not yet: " : "",
                   v->missing && v->missing[0] ? arena_printf(s->to->arena, "%s)", v->missing) : "",
                   way_on(v, s->to->arena), v->slurmdbd_lacks ? "; slurmdbd does not yet" : "");
}

void controller_judge_keys(const struct keys_verdict *v, struct status_scribe *s)
{
    if (v->refused)
        status_set(s, "KeysCurrent", STATUS_FALSE, true, "KeyRefused", "%s%s", v->refused,
                   v->known ? "; what runs goes on with the key that it has" : "");
    else if (!v->known)
        (void)api_condition_drop(s->conditions, "KeysCurrent");
    else if (v->state.stage == KEY_REST)
        status_set(s, "KeysCurrent", STATUS_TRUE, false, "Current",
                   "all have the key that is declared");
    else
        judge_progress(v, s);
}
