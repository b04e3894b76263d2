/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The operator.
 *
 * Changes in the caches become keys in the queue; a key becomes a plan; a plan is carried out; what
 * that changes comes back through the caches.  Work starts when all caches are filled and, with
 * --leader-elect, when we lead; it stops at once when we no longer do.  Up to MAX_KEYS keys are
 * worked on at a time (work.c), never the same one twice.
 */
#include "src/operator/operator.h"

#include <malloc.h>
#include <stdio.h>
#include <sys/utsname.h>

#include "src/base/alloc.h"
#include "src/base/clock.h"
#include "src/base/encode.h"
#include "src/base/log.h"
#include "src/kube/lease.h"
#include "src/operator/executor.h"
#include "src/operator/metrics.h"
#include "src/operator/queue.h"
#include "src/operator/routes.h"
#include "src/operator/webhook.h"
#include "src/operator/work.h"

#define MAX_KEYS 16
/* Planning for so long lets others have their turn: events, answers, a Controller's change. */
#define TURN_NS 4000000
/* After so many keys, once there is nothing to do, memory that they left behind is given back. */
#define KEYS_TO_TRIM 1000
#define BACKOFF_FIRST_MS 100
#define BACKOFF_MAX_MS 60000
/* Slinky's: where both have it in one namespace, only one of them leads. */
#define LEASE_NAME "slurm-operator"

struct operator
{
    struct kube_client *client;
    struct loop *loop;
    struct operator_options options;
    struct world *world;
    struct queue *queue;
    struct routes routes;
    struct executor executor;
    struct agents *agents;
    struct log_tails *tails;
    struct kube_election *election; /* NULL: without */
    struct metrics *metrics;
    struct webhook *webhook; /* NULL: none */
    struct loop_source *timer;
    struct work work;
    size_t since_trim; /* keys */
    char *identity;
    char *predecessors; /* what their identities begin with; NULL: see make_identity */
    char *trouble;      /* with the lease, told last; NULL: none */
    bool pumping;       /* a pump is deferred */
    bool stopped;
};

static void pump_later(struct operator* op);

static bool may_work(const struct operator* op)
{
    return !op->stopped && world_synced(op->world, NULL) &&
           (!op->election || kube_election_leads(op->election));
}

/* Is there a key to work on now?  Controllers do not wait for a free place: theirs are few, and
 * what they change is waited for. */
static const char *next_key(struct operator* op)
{
    if (queue_running(op->queue) >= MAX_KEYS && !queue_has_urgent(op->queue))
        return NULL;
    return queue_take(op->queue, loop_now_ms(op->loop));
}

static void pump(void *arg)
{
    struct operator* op = arg;
    int64_t since_ns = clock_mono_ns();
    const char *key;
    int64_t wait;

    op->pumping = false;
    if (!may_work(op))
        return;
    op->options.env.policy_v1beta1 =
        streq(world_version(op->world, plan_kind_find("PodDisruptionBudget")), "v1beta1");
    while ((key = next_key(op))) {
        op->since_trim++;
        work_start(&op->work, key);
        if (clock_mono_ns() - since_ns > TURN_NS) {
            pump_later(op);
            return;
        }
    }
    /* A key that had nothing to do has asked for the next turn: not to be put off by what waits. */
    wait = queue_wait_ms(op->queue, loop_now_ms(op->loop));
    if (wait > 0 && !op->pumping)
        loop_timer_arm(op->timer, wait);
    if (op->since_trim >= KEYS_TO_TRIM && wait != 0 && queue_running(op->queue) == 0) {
        op->since_trim = 0;
        (void)malloc_trim(0);
    }
}

static void pump_later(struct operator* op)
{
    if (op->pumping || op->stopped)
        return;
    op->pumping = true;
    loop_timer_arm(op->timer, 0);
}

static void on_change(void *arg, const char *kind, const struct kube_object *old,
                      const struct kube_object *now)
{
    struct operator* op = arg;

    log_debug("%s %s/%s: seen", kind, (now ? now : old)->namespace, (now ? now : old)->name);
    op->routes.world = op->world;
    routes_follow(&op->routes, kind, old, now);
    if (op->webhook && streq(kind, "Secret"))
        webhook_secret_changed(op->webhook, (now ? now : old)->namespace, (now ? now : old)->name);
    pump_later(op);
}

static void on_slurm(void *arg, const char *ns, const char *controller,
                     const struct agent_change *c)
{
    struct operator* op = arg;

    routes_follow_slurm(&op->routes, ns, controller, c);
    pump_later(op);
}

static void on_slurm_lost(void *arg, const char *ns, const char *controller)
{
    struct operator* op = arg;

    log_warn("Controller %s/%s: Slurm's state is not known: %s", ns, controller,
             agent_link_trouble(agents_find(op->agents, ns, controller)));
    routes_follow_cluster(&op->routes, ns, controller);
    pump_later(op);
}

/* Say what was done, where somebody looks who has changed something. */
static void tell_applied(struct operator* op, const char *ns, const char *controller)
{
    const struct kube_object *o = world_get(op->world, "Controller", ns, controller);
    const struct slurm_state *s = agent_link_view(agents_find(op->agents, ns, controller));
    struct kube_reference about = {.api_version = API_GROUP_VERSION,
                                   .kind = "Controller",
                                   .namespace = ns,
                                   .name = controller};

    if (!o || !s || !s->applied.steps ||
        !(streq(s->applied.result, "applied") || (s->applied.taken && s->applied.n_refused > 0)))
        return;
    about.uid = o->uid;
    about.version = o->version;
    log_info("Controller %s/%s: applied by %s", ns, controller, s->applied.steps);
    kube_recorder_emit(op->executor.recorder, &about, KUBE_EVENT_NORMAL, "ConfigApplied",
                       "Applied by %s", s->applied.steps);
}

static void on_pushed(void *arg, const char *ns, const char *controller, bool refusal)
{
    struct operator* op = arg;
    const struct slurm_state *s = agent_link_view(agents_find(op->agents, ns, controller));
    const struct agent_change c = {.config = true, .held_lines = s ? s->held_lines : NULL};

    if (refusal)
        routes_follow_cluster(&op->routes, ns, controller);
    else
        routes_follow_slurm(&op->routes, ns, controller, &c);
    tell_applied(op, ns, controller);
    pump_later(op);
}

static void on_synced(void *arg)
{
    struct operator* op = arg;

    log_info("watching: %zu Controllers, %zu NodeSets, %zu worker pods",
             world_count(op->world, "Controller"), world_count(op->world, "NodeSet"),
             world_count(op->world, "Pod"));
    /* The first lists leave much behind that is not needed again. */
    (void)malloc_trim(0);
    pump_later(op);
}

static void on_lead(void *arg)
{
    struct operator* op = arg;

    free(TAKE(op->trouble));
    log_info("leading");
    pump_later(op);
}

/* What is under way may be finished by the next leader; nothing of ours is written any more. */
static void on_lead_lost(void *arg)
{
    struct operator* op = arg;

    agents_clear(op->agents);
    if (!op->stopped)
        log_warn("no longer leading: waiting");
}

static const char *lease_namespace(const struct operator* op)
{
    return op->options.lease_namespace ? op->options.lease_namespace
                                       : kube_client_namespace(op->client);
}

static void on_leader(void *arg, const char *identity)
{
    const struct operator* op = arg;

    if (!streq(identity, op->identity))
        log_info("'%s' leads", identity);
}

static bool may_write(void *arg)
{
    return may_work(arg);
}

static void on_work_ended(void *arg)
{
    pump_later(arg);
}

static const char *version_of(void *arg, const struct plan_kind *kind)
{
    return world_version(((struct operator*)arg)->world, kind);
}

static void on_wrote(void *arg, const struct action *a, const struct kube_failure *f)
{
    metrics_wrote(((struct operator*)arg)->metrics, a, f);
}

static bool is_ready(void *arg, char *why, size_t n)
{
    const struct operator* op = arg;
    const char *missing = NULL;

    if (!world_synced(op->world, &missing))
        (void)snprintf(why, n, "not all %s objects are read yet\n", missing);
    else if (op->webhook && !webhook_ready(op->webhook))
        (void)snprintf(why, n, "the webhook has no certificate yet\n");
    else
        return true;
    return false;
}

static void set_gauges(void *arg)
{
    struct operator* op = arg;
    size_t known;
    size_t linked;

    metrics_queue(op->metrics, queue_waiting(op->queue), queue_running(op->queue));
    for (const struct plan_kind *k = plan_kinds; k->kind; k++)
        metrics_objects(op->metrics, k->kind, world_count(op->world, k->kind));
    metrics_cache_bytes(op->metrics, world_bytes(op->world));
    linked = agents_count(op->agents, &known);
    metrics_agents(op->metrics, linked, known);
    metrics_leads(op->metrics, !op->election || kube_election_leads(op->election));
}

/* Nothing is done as long as we cannot campaign: why is told, each reason once. */
static void on_lead_trouble(void *arg, const struct kube_failure *f)
{
    struct operator* op = arg;
    AUTO(free) char *before = op->trouble;

    op->trouble = xstrdup(f->err.text);
    if (!streq(before ? before : "", op->trouble))
        log_warn("the lease %s in namespace %s cannot be had, without it nothing is done: %s%s",
                 LEASE_NAME, lease_namespace(op), f->err.text,
                 f->code == 403   ? "; see slurmkeeper rbac"
                 : f->code == 404 ? "; make the namespace, or name another (--lease-namespace)"
                                  : "");
}

/*
 * Host name, pod and a random part.  In a pod, processes of our container follow each other: the
 * next one need not wait for the lease of the last one to run out.
 */
static void make_identity(struct operator* op)
{
    char uuid[ENCODE_UUID_LEN + 1];
    struct utsname u;
    const char *host = uname(&u) == 0 ? u.nodename : "unknown";

    encode_uuid(uuid);
    if (op->options.pod_uid)
        op->predecessors = xasprintf("%s_%s_", host, op->options.pod_uid);
    op->identity = op->predecessors ? xasprintf("%s%s", op->predecessors, uuid)
                                    : xasprintf("%s_%s", host, uuid);
}

static int start_election(struct operator* op, struct err *e)
{
    struct kube_election_options o = {
        .namespace = lease_namespace(op),
        .name = LEASE_NAME,
        .identity = op->identity,
        .predecessors = op->predecessors,
        .started = on_lead,
        .stopped = on_lead_lost,
        .leader = on_leader,
        .trouble = on_lead_trouble,
        .arg = op,
    };

    return op->options.leader_elect ? kube_election_new(op->client, &o, &op->election, e) : 0;
}

static void on_log(void *arg, const char *key)
{
    struct operator* op = arg;

    queue_add(op->queue, key);
    pump_later(op);
}

static int start_agents(struct operator* op, struct err *e)
{
    struct agents_events events = {on_slurm, on_slurm_lost, on_pushed, op};
    int r = agents_new(op->loop, &events, &op->agents, e);

    op->executor.agents = op->agents;
    return r;
}

static void start_world(struct operator* op)
{
    struct world_options o = {op->options.namespaces, on_change, on_synced, op};

    op->queue = queue_new(BACKOFF_FIRST_MS, BACKOFF_MAX_MS);
    op->routes.queue = op->queue;
    op->executor = (struct executor){
        .client = op->client,
        .recorder = kube_recorder_new(op->client, "slurmkeeper-operator", NULL),
        .may_write = may_write,
        .version = version_of,
        .wrote = on_wrote,
        .arg = op,
    };
    op->tails = log_tails_new(op->client, on_log, op);
    op->world = world_new(op->client, &o);
}

int operator_new(struct kube_client *c, const struct operator_options *o,
                 struct operator** ret_operator, struct err *e)
{
    AUTO(operator_free) struct operator* op = xcalloc(1, sizeof(*op));
    struct metrics_source source = {is_ready, set_gauges, op};
    int r;

    op->client = c;
    op->loop = kube_client_loop(c);
    op->options = *o;
    make_identity(op);
    op->timer = loop_add_timer(op->loop, pump, op);
    start_world(op);
    r = start_agents(op, e);
    if (r == 0)
        r = metrics_new(op->loop, o->metrics, &source, &op->metrics, e);
    if (r == 0 && o->webhook)
        r = webhook_new(c, op->world, o->webhook, &op->webhook, e);
    if (r == 0)
        r = start_election(op, e);
    if (r < 0)
        return r;
    work_init(&op->work, &(struct work_tools){.world = op->world,
                                              .agents = op->agents,
                                              .tails = op->tails,
                                              .queue = op->queue,
                                              .executor = &op->executor,
                                              .metrics = op->metrics,
                                              .env = &op->options.env,
                                              .loop = op->loop,
                                              .may_work = may_write,
                                              .ended = on_work_ended,
                                              .arg = op});
    *ret_operator = TAKE(op);
    return 0;
}

struct operator* operator_free(struct operator* op)
{
    if (!op)
        return NULL;
    work_done(&op->work);
    (void)webhook_free(op->webhook);
    (void)kube_election_free(op->election);
    (void)agents_free(op->agents);
    (void)log_tails_free(op->tails);
    (void)world_free(op->world);
    (void)kube_recorder_free(op->executor.recorder);
    (void)queue_free(op->queue);
    (void)metrics_free(op->metrics);
    (void)loop_source_free(op->timer);
    free(op->identity);
    free(op->predecessors);
    free(op->trouble);
    free(op);
    return NULL;
}

void operator_stop(struct operator* op, void (*done)(void *arg), void *arg)
{
    op->stopped = true;
    loop_timer_disarm(op->timer);
    if (op->election)
        kube_election_stop(op->election, done, arg);
    else
        loop_defer(op->loop, done, arg);
}

int operator_port(const struct operator* op)
{
    return metrics_port(op->metrics);
}

int operator_webhook_port(const struct operator* op)
{
    return op->webhook ? webhook_port(op->webhook) : 0;
}
