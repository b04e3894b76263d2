/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The hub: asks slurmctld, keeps what it said.
 *
 * Every list is asked for with the time of its last answer, so that nothing new is a tiny answer.
 * A list that takes long to bring over is asked for less often, so that it costs slurmctld and us
 * at most a twentieth of the time.  When to ask for what is hub_round.c's.
 *
 * All answers of a round are worked in before watchers hear of any (hub_publish.c).
 *
 * A slurmctld that is started again between two questions is never seen to be away.  But it counts
 * all of its lists as changed, and a list of partitions that has changed tells when its slurmctld
 * was started.  If that is news, a ping brings the rest (which release, who is in charge), and the
 * lists of the one before are asked for again.  Nodes change more often than partitions, and are
 * asked for more often: where they have changed, the partitions are asked for, too.
 */
#include "src/agent/hub_impl.h"

#include "src/agent/activity.h"
#include "src/base/alloc.h"
#include "src/base/clock.h"
#include "src/base/encode.h"
#include "src/base/log.h"
#include "src/slurm/profile.h"

#define COST_FACTOR 20
#define COST_MOST_MS 3000

static const char *const call_names[HUB_N_TABLES] = {
    [HUB_NODES] = "nodes",
    [HUB_PARTITIONS] = "partitions",
    [HUB_JOBS] = "jobs",
    [HUB_RESERVATIONS] = "reservations",
};

/* A call in flight. */
struct question {
    struct list link; /* in hub->questions */
    struct hub *hub;
    enum hub_table table;
    hub_fresh_fn fn; /* NULL: part of a round */
    void *arg;
    int64_t start_ns;
};

static void question_free(struct question *q)
{
    list_remove(&q->link);
    free(q);
}

static void controllers_take(struct hub *h, const struct jsn *list)
{
    struct arena a = {0};

    h->controllers = list ? jsn_clone(&a, list) : jsn_array(&a);
    arena_done(&h->controllers_arena);
    h->controllers_arena = a;
}

struct hub *hub_new(struct loop *l, struct link *link, const struct hub_events *events, void *arg)
{
    struct hub *h = xcalloc(1, sizeof(*h));
    char uuid[ENCODE_UUID_LEN + 1];

    h->loop = l;
    h->link = link;
    h->events = *events;
    if (!h->events.activity)
        h->events.activity = activity_read;
    h->arg = arg;
    for (unsigned i = 0; i < HUB_N_TABLES; i++)
        table_init(&h->lists[i].rows);
    map_init(&h->notes, hub_note_free);
    jobs_init(&h->jobs);
    controllers_take(h, NULL);
    list_init(&h->watchers);
    list_init(&h->questions);
    encode_uuid(uuid);
    memcpy(h->boot, uuid, 8);
    h->version = 1;
    h->wanted = HUB_ALL;
    h->timer = loop_add_timer(l, hub_on_timer, h);
    return h;
}

static void nodes_forget(struct hub *h);

struct hub *hub_free(struct hub *h)
{
    if (!h)
        return NULL;
    (void)loop_source_free(h->timer);
    /* the link has dropped those that it had not answered */
    LIST_FOR_EACH (q, &h->questions, struct question, link)
        question_free(q);
    for (unsigned i = 0; i < HUB_N_TABLES; i++) {
        table_done(&h->lists[i].rows);
        arena_done(&h->lists[i].arena);
    }
    for (unsigned i = 0; i < HUB_N_SECTIONS; i++)
        buf_done(&h->sections[i]);
    assert(list_empty(&h->watchers));
    live_done(&h->live);
    nodes_forget(h);
    map_done(&h->notes);
    jobs_done(&h->jobs);
    arena_done(&h->controllers_arena);
    free(h);
    return NULL;
}

bool hub_up(const struct hub *h)
{
    return h->up;
}

uint32_t hub_release(const struct hub *h)
{
    return h->release;
}

int64_t hub_boot_time(const struct hub *h)
{
    return h->boot_time;
}

const struct live *hub_live(const struct hub *h)
{
    return &h->live;
}

const struct jobs *hub_jobs(const struct hub *h)
{
    return &h->jobs;
}

uint64_t hub_partitions_seen(const struct hub *h)
{
    return h->live_seen;
}

int64_t hub_partitions_asked_ns(const struct hub *h)
{
    return h->live_asked_ns;
}

bool hub_complete(const struct hub *h)
{
    return h->up && h->known == HUB_ALL;
}

bool hub_knows(const struct hub *h, enum hub_table table)
{
    return h->up && (h->known & 1U << table);
}

/* They are of another slurmctld than the one that runs. */
static void lists_forget(struct hub *h)
{
    h->wanted = HUB_ALL;
    for (unsigned i = 0; i < HUB_N_TABLES; i++)
        h->lists[i].since = 0; /* its clock may be another one */
    h->known = 0;
}

static void set_up(struct hub *h, bool up)
{
    if (h->up == up)
        return;
    h->up = up;
    h->newer = true;
    if (up) {
        log_info("slurmctld answers");
        lists_forget(h);
    } else {
        if (!h->mismatch)
            log_warn("slurmctld does not answer; asking again");
        hub_look_closely(h);
    }
}

void hub_overdue(struct hub *h)
{
    set_up(h, false);
    hub_publish(h);
}

static void ping_ended(void *arg, int r, const struct jsn *answer, const struct err *e);

void hub_ping(struct hub *h, uint64_t timeout_ms, hub_fresh_fn fn, void *arg)
{
    AUTO(arena_done) struct arena a = {0};
    struct question *q = xcalloc(1, sizeof(*q));
    struct jsn *request = jsn_object(&a);

    *q = (struct question){.hub = h, .fn = fn, .arg = arg};
    list_append(&h->questions, &q->link);
    jsn_set_str(&a, request, "call", "ping");
    h->pinging = true;
    if (link_call(h->link, LANE_READ, request, timeout_ms, ping_ended, q) < 0)
        ping_ended(q, -EBUSY, NULL, NULL);
}

/* Down is whatever keeps an answer away; a refusal is an answer. */
static bool means_down(int r)
{
    return r == -EHOSTDOWN || r == -ETIMEDOUT || r == -EPIPE || r == -EBUSY || r == -ENOEXEC ||
           r == -EBADMSG;
}

static void nodes_forget(struct hub *h)
{
    for (size_t i = 0; i < ARRAY_LEN(h->nodes); i++)
        h->nodes[i] = hostset_free(h->nodes[i]);
}

/* Is a node of the last list not in this one? */
static bool node_went(const struct hub *h, const struct jsn *items)
{
    AUTO(map_done) struct map names = {0};

    JSN_FOR_ITEMS (node, items)
        (void)map_put(&names, str_of(jsn_get_str(node, "name")), (void *)(uintptr_t)node);
    JSN_FOR_ITEMS (node, h->lists[HUB_NODES].items)
        if (!map_get(&names, str_of(jsn_get_str(node, "name"))))
            return true;
    return false;
}

/*
 * slurmctld takes a dynamic node that is deleted out of its partitions without counting these as
 * changed: asked by time, it would go on to say that nothing is new.
 */
static void nodes_take(struct hub *h, const struct jsn *items)
{
    nodes_forget(h);
    if (!node_went(h, items))
        return;
    h->lists[HUB_PARTITIONS].since = 0;
    h->wanted |= 1U << HUB_PARTITIONS;
}

static int list_take(struct hub *h, enum hub_table table, const struct jsn *answer, struct err *e)
{
    struct hub_list *l = &h->lists[table];
    const struct jsn *items = jsn_key(answer, "items");
    struct arena a = {0};
    int r = 0;

    h->known |= 1U << table;
    if (jsn_get_bool(answer, "unchanged", false))
        return 0;
    if (table == HUB_PARTITIONS) {
        struct live live = {0};

        r = live_decode(items, &live, e);
        if (r < 0)
            return r;
        live_done(&h->live);
        h->live = live;
        h->live_seen++;
    } else if (table == HUB_NODES) {
        nodes_take(h, items);
    } else if (table == HUB_JOBS) {
        jobs_take(&h->jobs, items);
        h->lists[HUB_NODES].changed = h->lists[HUB_PARTITIONS].changed = true;
    }
    l->items = jsn_clone(&a, items);
    arena_done(&l->arena);
    l->arena = a;
    l->since = jsn_get_int(answer, "time", 0);
    l->changed = true;
    return 0;
}

/* Is this list of another slurmctld than the one that was pinged last? */
static void restart_look(struct hub *h, enum hub_table table, const struct jsn *answer)
{
    int64_t boot = jsn_get_int(answer, "bootTime", 0);

    if (table == HUB_NODES && h->round_calls == 1 && !jsn_get_bool(answer, "unchanged", false))
        h->wanted |= 1U << HUB_PARTITIONS;
    if (table == HUB_PARTITIONS && boot > 0 && h->boot_time > 0 && boot != h->boot_time &&
        !h->pinging)
        hub_ping(h, HUB_PING_TIMEOUT_MS, NULL, NULL);
}

static void question_ended(void *arg, int r, const struct jsn *answer, const struct err *e)
{
    struct question *q = arg;
    struct hub *h = q->hub;
    struct hub_list *l = &h->lists[q->table];
    int64_t now = clock_mono_ms();
    struct err bad = {0};

    h->silent_ms = 0;
    if (r == 0 && !jsn_get_bool(answer, "unchanged", false))
        l->not_before_ms = now + MIN((now - q->start_ns / 1000000) * COST_FACTOR, COST_MOST_MS);
    if (r == 0) {
        r = list_take(h, q->table, answer, &bad);
        e = &bad;
        if (r == 0 && q->table == HUB_PARTITIONS) {
            h->live_asked_ns = q->start_ns;
            hub_notes_drop(h, q->start_ns);
        }
    }
    if (r < 0 && !q->fn)
        log_debug("%s: %s", call_names[q->table], e ? e->text : "no answer");
    if (r == 0)
        restart_look(h, q->table, answer);
    if (means_down(r)) {
        if (h->up)
            hub_ping(h, HUB_PING_TIMEOUT_MS, NULL, NULL);
    } else if (h->mismatches == 0) {
        set_up(h, true);
    }
    if (q->fn)
        q->fn(q->arg, r, e);
    else if (--h->in_flight == 0)
        hub_round_ended(h);
    question_free(q);
}

void hub_refresh(struct hub *h, enum hub_table table, uint64_t timeout_ms, hub_fresh_fn fn,
                 void *arg)
{
    AUTO(arena_done) struct arena a = {0};
    struct question *q = xcalloc(1, sizeof(*q));
    struct jsn *request = jsn_object(&a);

    *q = (struct question){
        .hub = h, .table = table, .fn = fn, .arg = arg, .start_ns = clock_mono_ns()};
    list_append(&h->questions, &q->link);
    jsn_set_str(&a, request, "call", call_names[table]);
    jsn_set_int(&a, request, "since", h->lists[table].since);
    h->round_calls++;
    h->silent_ms = 0;
    if (!fn)
        h->in_flight++;
    if (link_call(h->link, LANE_READ, request, timeout_ms, question_ended, q) < 0)
        question_ended(q, -EBUSY, NULL, NULL);
}

/*
 * slurmctld takes libslurm of its own release and of a few before it.  Whether it has told its
 * release before, to another agent or before an upgrade, decides how much can be said.
 */
static void mismatch_take(struct hub *h, bool mismatch, uint32_t controller, uint32_t library)
{
    char own[RELEASE_TEXT_LEN];
    char its[RELEASE_TEXT_LEN] = "";

    /* once may be an accident: one that was about to end, say */
    h->mismatches = mismatch ? h->mismatches + 1 : 0;
    mismatch = h->mismatches >= 2;
    if (mismatch == h->mismatch)
        return;
    h->mismatch = mismatch;
    h->newer = true;
    h->why[0] = '\0';
    if (!mismatch)
        return;
    release_text(library, own);
    if (controller && !profile_client_accepted(controller, library))
        release_text(controller, its);
    (void)snprintf(
        h->why, sizeof(h->why),
        "slurmctld%s%s refuses libslurm %s of this agent, since it is older than that or "
        "much newer: run the agent that is built for slurmctld's own release",
        its[0] ? " " : "", its, own);
    log_error("%s; looking again every %d s", h->why, HUB_MISMATCH_MS / 1000);
}

/* A child that cannot do its work says nothing of slurmctld: its libslurm is missing, say. */
static void child_trouble_take(struct hub *h, int r, const struct err *e)
{
    bool failed = r == -EPIPE || r == -ENOEXEC;
    const char *text = failed && e ? e->text : "";

    /* once may be an accident */
    h->child_failures = failed ? h->child_failures + 1 : 0;
    if (h->mismatch || (failed && h->child_failures < 3) || streq(h->why, text))
        return;
    (void)snprintf(h->why, sizeof(h->why), "%.*s", (int)sizeof(h->why) - 1, text);
    h->newer = true;
}

static void ping_take(struct hub *h, const struct jsn *answer)
{
    const char *release = jsn_get_str(answer, "release");
    int64_t boot = jsn_get_int(answer, "bootTime", 0);
    int64_t library = jsn_get_int(answer, "libslurm", 0);
    bool up = jsn_get_bool(answer, "up", false);
    bool another = up && boot != h->boot_time;
    uint32_t number;

    child_trouble_take(h, 0, NULL);
    mismatch_take(h, jsn_get_bool(answer, "mismatch", false), h->told, (uint32_t)library);
    controllers_take(h, jsn_key(answer, "controllers"));
    if (release && release_parse(str_of(release), &number, NULL) == 0)
        h->release = h->told = number;
    else if (h->release == 0 && library > 0)
        h->release = (uint32_t)library;
    if (another) {
        if (h->up && h->boot_time > 0) {
            log_info("slurmctld was started again");
            lists_forget(h);
        }
        h->boot_time = boot;
    }
    another = another || (up && !h->up);
    set_up(h, up);
    if (another && h->events.on_up)
        h->events.on_up(h->arg);
}

static void ping_ended(void *arg, int r, const struct jsn *answer, const struct err *e)
{
    struct question *q = arg;
    struct hub *h = q->hub;

    h->pinging = false;
    if (r == 0) {
        ping_take(h, answer);
    } else {
        child_trouble_take(h, r, e);
        set_up(h, false);
    }
    if (q->fn)
        q->fn(q->arg, r < 0 ? r : h->up ? 0 : -EHOSTDOWN, e);
    question_free(q);
    hub_publish(h);
}

const char *hub_older_node(const struct hub *h, const struct host_set *but)
{
    int64_t boot = hub_boot_time(h);

    JSN_FOR_ITEMS (node, h->lists[HUB_NODES].items) {
        const char *name = jsn_get_str(node, "name");
        int64_t started = jsn_get_int(node, "slurmdStartTime", 0);

        if (started > 0 && boot > 0 && started < boot && !(but && hostset_has(but, str_of(name))))
            return name;
    }
    return NULL;
}

int64_t hub_partition_nodes(const struct hub *h, const char *name)
{
    JSN_FOR_ITEMS (item, h->lists[HUB_PARTITIONS].items)
        if (streq(jsn_get_str(item, "name"), name))
            return jsn_get_int(item, "totalNodes", -1);
    return -1;
}

static struct host_set *nodes_find(const struct hub *h, bool dynamic_only)
{
    AUTO(hostlist_free) struct host_list *names = hostlist_new();

    JSN_FOR_ITEMS (node, h->lists[HUB_NODES].items) {
        const char *name = jsn_get_str(node, "name");
        const char *state = jsn_get_str(node, "state");

        if (name && (!dynamic_only || (state && strstr(state, "DYNAMIC"))))
            hostlist_push(names, str_of(name));
    }
    return hostset_of(names);
}

const struct host_set *hub_nodes(struct hub *h, bool dynamic_only)
{
    struct host_set **set = &h->nodes[dynamic_only];

    if (!*set)
        *set = nodes_find(h, dynamic_only);
    return *set;
}
