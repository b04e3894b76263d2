/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An operator: caches that lag, a view of Slurm that lags, a queue, plans, their execution.  Plan,
 * queue, executor and the list of what was asked are the real ones.
 */
#include "src/base/alloc.h"
#include "tests/sim/sim.h"

#define KEY "NodeSet/" SIM_NAMESPACE "/" SIM_SET
#define VIEW_LASTS_MS 10000 /* without an answer for so long nothing is known (agent_link.c) */
#define BACKOFF_FIRST_MS 100
#define BACKOFF_MOST_MS 30000

static const char lab[] =
    "{\"apiVersion\":\"slinky.slurm.net/v1beta1\",\"kind\":\"Controller\","
    "\"metadata\":{\"name\":\"" SIM_CONTROLLER "\",\"namespace\":\"" SIM_NAMESPACE
    "\",\"uid\":\"C\",\"generation\":1},\"spec\":{}}";

static bool may_write(void *arg)
{
    const struct sim_operator *o = arg;

    return o->alive && o->leads;
}

static void on_wrote(void *arg, const struct action *a, const struct kube_failure *f)
{
    struct sim_operator *o = arg;

    (void)a;
    if (!f) {
        o->writes++;
        o->sim->tally.writes++;
    }
}

static void on_expired(void *arg, const char *node)
{
    struct sim_operator *o = arg;

    (void)node;
    queue_add(o->queue, KEY);
}

void operator_start(struct sim *s, unsigned number)
{
    struct sim_operator *o = &s->operators[number];

    *o = (struct sim_operator){.sim = s, .number = number, .alive = true, .leads = o->leads};
    o->queue = queue_new(BACKOFF_FIRST_MS, BACKOFF_MOST_MS);
    o->asked = asked_new((struct loop *)s, on_expired, o);
    o->executor = (struct executor){.client = (struct kube_client *)o,
                                    .agents = (struct agents *)o,
                                    .may_write = may_write,
                                    .wrote = on_wrote,
                                    .arg = o};
    for (size_t i = 0; i < s->api.objects.n; i++) {
        struct rev *r = s->api.objects.items[i];

        revs_put(&o->cache, r->kind, r->name, r);
    }
    o->cursor = s->api.log_base + s->api.n_log;
    queue_add(o->queue, KEY);
    sim_tell(s, "operator %u starts", number);
}

void operator_kill(struct sim *s, unsigned number)
{
    struct sim_operator *o = &s->operators[number];

    if (!o->alive)
        return;
    sim_tell(s, "operator %u is killed", number);
    o->execution = execution_cancel(o->execution);
    seam_run_deferred(s);
    for (size_t i = 0; i < SIM_CALLS; i++)
        if (s->calls[i].kind != CALL_NONE && s->calls[i].operator== number)
            s->calls[i].heard = false;
    o->queue = queue_free(o->queue);
    o->asked = asked_free(o->asked);
    revs_done(&o->cache);
    for (size_t i = 0; i < ARRAY_LEN(o->views); i++)
        arena_done(&o->views[i].arena);
    free(o->running);
    *o = (struct sim_operator){.sim = s, .number = number};
}

/* --- what it sees --- */

static void read_log(struct sim_operator *o, unsigned most)
{
    struct api *api = &o->sim->api;

    if (o->sim->now_ms < o->watch_stalls_until_ms && !o->sim->calm)
        return;
    for (; most > 0 && o->cursor < api->log_base + api->n_log; most--, o->cursor++) {
        const struct change *c = &api->log[o->cursor - api->log_base];

        revs_put(&o->cache, c->kind, c->name, c->rev);
        queue_add(o->queue, KEY);
    }
}

static struct sim_view *known(struct sim_operator *o)
{
    return &o->views[0];
}

static void take_view(struct sim_operator *o)
{
    struct sim_view *coming = &o->views[1];
    struct sim_view old = *known(o);

    *known(o) = *coming;
    *coming = old;
    coming->full = false;
    o->view_at_ms = o->sim->now_ms;
    o->view_known = true;
    asked_compare(o->asked, &known(o)->state);
    queue_add(o->queue, KEY);
}

/* An answer of the agent leaves, or arrives. */
static void follow_agent(struct sim_operator *o)
{
    if (o->views[1].full)
        take_view(o);
    else
        slurm_see(o->sim, &o->views[1]);
}

static const struct slurm_state *view(struct sim_operator *o)
{
    struct slurm_state *state = &known(o)->state;

    if (!o->view_known || o->sim->now_ms - o->view_at_ms > VIEW_LASTS_MS)
        return NULL;
    state->asked = asked_list(o->asked, &state->n_asked);
    return state;
}

/* --- what it does --- */

static int cache_get(void *ctx, const char *kind, const char *ns, const char *name,
                     const struct jsn **ret_object)
{
    const struct sim_operator *o = ctx;
    const struct rev *r = revs_find(&o->cache, kind, name);

    (void)ns;
    *ret_object = r ? r->v : NULL;
    return 0;
}

static int cache_each(void *ctx, const char *kind, const char *ns, api_visit_fn visit, void *arg)
{
    const struct sim_operator *o = ctx;

    (void)ns;
    for (size_t i = 0; i < o->cache.n; i++)
        if (streq(o->cache.items[i]->kind, kind) && !visit(arg, o->cache.items[i]->v))
            break;
    return 0;
}

static struct rev *cached_set(const struct sim_operator *o)
{
    return revs_find(&o->cache, "NodeSet", SIM_SET);
}

/* What of a kind the NodeSet controls, as the cache has it. */
static void read_pods(struct sim_operator *o, struct arena *a, struct plan_nodeset *in)
{
    const struct plan_pod **pods = arena_calloc(a, o->cache.n + 1, sizeof(struct plan_pod *));
    const struct plan_pod **orphans = arena_calloc(a, o->cache.n + 1, sizeof(struct plan_pod *));
    const struct jsn **revisions = arena_calloc(a, o->cache.n + 1, sizeof(struct jsn *));

    for (size_t i = 0; i < o->cache.n; i++) {
        const struct rev *r = o->cache.items[i];
        struct plan_pod *p;

        if (streq(r->kind, "ControllerRevision"))
            revisions[in->n_revisions++] = jsn_clone(a, r->v);
        if (!streq(r->kind, "Pod"))
            continue;
        p = arena_calloc(a, 1, sizeof(*p)); /* the cache goes on while the plan is carried out */
        plan_pod_decode(a, r->v, p);
        if (streq(p->owner_uid, in->ns->meta.uid))
            pods[in->n_pods++] = p;
        else if (!p->owner_uid && !in->ns->meta.deleted_us)
            orphans[in->n_orphans++] = p;
    }
    in->pods = pods;
    in->orphans = orphans;
    in->revisions = revisions;
}

static void plan(struct sim_operator *o, struct actions *to, const struct jsn *object)
{
    static const struct build_env env = {0};
    struct arena *a = to->arena;
    struct api_lookup lookup = {.get = cache_get, .each = cache_each, .ctx = o};
    struct controller *c = arena_calloc(a, 1, sizeof(*c));
    struct nodeset *ns = arena_calloc(a, 1, sizeof(*ns));
    struct build_cluster cluster = {.env = &env, .controller = c, .lookup = &lookup};
    struct plan_nodeset in = {.object = object, .ns = ns, .cluster = &cluster};
    struct jsn *v = NULL;
    struct err e = {0};

    if (jsn_parse(a, str_of(lab), NULL, &v, &e) < 0 || controller_decode(a, v, c, &e) < 0 ||
        nodeset_decode(a, object, ns, &e) < 0)
        abort();
    cluster.nodesets = (const struct nodeset *const *)&ns;
    cluster.n_nodesets = 1;
    read_pods(o, a, &in);
    in.slurm = view(o);
    in.now_us = sim_now_us(o->sim);
    plan_nodeset(&in, to);
    o->sim->tally.plans++;
}

static void on_executed(void *arg, const struct execution_end *end)
{
    struct sim_operator *o = arg;
    struct sim *s = o->sim;

    o->execution = NULL;
    if (end->has_requeue)
        queue_add_at(o->queue, o->running,
                     s->now_ms + MAX(end->requeue_us - sim_now_us(s), (int64_t)0) / 1000 + 1);
    (void)queue_done(o->queue, o->running, end->failures > 0, s->now_ms);
    free(o->running);
    o->running = NULL;
}

static void work(struct sim_operator *o)
{
    struct arena a = {0};
    struct actions list = {.arena = &a};
    const char *key = o->execution ? NULL : queue_take(o->queue, o->sim->now_ms);
    struct kube_reference about = {.kind = "NodeSet", .name = SIM_SET};

    if (!key)
        return;
    o->running = xstrdup(key);
    if (cached_set(o))
        plan(o, &list, cached_set(o)->v);
    if (list.n == 0) {
        arena_done(&a);
        on_executed(o, &(struct execution_end){0});
        return;
    }
    o->execution = execution_start(&o->executor, &about, &a, &list, on_executed, o);
}

void operator_step(struct sim *s, unsigned number)
{
    struct sim_operator *o = &s->operators[number];

    if (!o->alive)
        return;
    switch (chance_below(&s->chance, 4)) {
    case 0:
        read_log(o, 1 + chance_below(&s->chance, 6));
        break;
    case 1:
        follow_agent(o);
        break;
    default:
        if (o->leads)
            work(o);
        break;
    }
}

bool operator_is_quiet(const struct sim_operator *o)
{
    const struct api *api = &o->sim->api;

    return !o->alive || (!o->execution && o->cursor == api->log_base + api->n_log &&
                         (!o->leads || queue_wait_ms(o->queue, o->sim->now_ms) != 0));
}
