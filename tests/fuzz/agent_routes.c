/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz target: the agent's HTTP interface on its real engine, hub and store, with a scripted
 * libslurm.
 *
 * The linker sends link_call here, so that slurmctld is what the script says.  By default each call
 * is answered in the next turn from a small table: a controller that is up, a node, a partition.
 * Steps: H n holds answers back (n odd) or not; A n answers the oldest call with what has gathered
 * as JSON, or with the n-th failure; P n chooses what the partitions are (0: as in the files); U n
 * says whether slurmctld is up.  Peers 0 and 1 have the token, 2 and 3 come over the socket that
 * needs none.
 *
 * What must hold: every call of the link is answered or dropped once; who has no token gets 401.
 */
#include <stdio.h>

#include "src/agent/routes.h"
#include "src/base/alloc.h"
#include "src/base/file.h"
#include "src/base/list.h"
#include "src/slurm/partition.h"
#include "tests/fuzz/peers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int __wrap_link_call(struct link *link, enum link_lane lane, const struct jsn *request,
                     uint64_t timeout_ms, link_answer_fn fn, void *arg);

/* A call of libslurm that has not been answered. */
struct call {
    struct list link;
    char *name;
    link_answer_fn fn;
    void *arg;
};

struct world {
    struct loop *loop;
    struct link *link;
    struct hub *hub;
    struct engine *engine;
    struct metrics *metrics;
    struct store *store;
    struct secret token;
    struct routes routes[2];
    struct http_server *servers[2];
    struct list calls;
    struct loop_source *answering;
    bool held;
    bool down;
    bool full; /* the link takes no more calls */
    unsigned int partitions;
    const struct peers *peers;
};

static struct world world;
static char version[64]; /* of the state that was last heard */
static char live[] = "/dev/shm/fuzz-agent-XXXXXX";
static char marker[64], proven[64]; /* in it */

static void answer_with(struct call *c, int r, const struct jsn *answer)
{
    struct err e = {0};
    link_answer_fn fn = c->fn;
    void *arg = c->arg;

    if (r < 0)
        (void)err_set(&e, r, ERR_RETRY, "%s: so the script says", c->name);
    list_remove(&c->link);
    free(c->name);
    free(c);
    fn(arg, r, answer, &e);
}

static void answer_text(struct call *c, int r, const char *text)
{
    AUTO(arena_done) struct arena a = {0};
    struct jsn *v = NULL;

    if (jsn_parse(&a, str_of(text), NULL, &v, NULL) < 0)
        abort();
    answer_with(c, r, v);
}

/* A partition as slurmctld shows it: the settings of a line of slurm.conf, and all defaults. */
static void add_partition(struct arena *a, struct jsn *items, struct str line)
{
    AUTO(partition_done) struct partition p = {0};
    AUTO(buf_done) struct buf all = {0};
    struct conf_pair pairs[CONF_MAX_PAIRS];
    struct jsn *item = jsn_object(a), *config = jsn_object(a);
    struct str rest, word, key;
    size_t n = 0;

    while (str_split(&line, ' ', &word) && n < CONF_MAX_PAIRS)
        if (str_split(&word, '=', &key) && word.n)
            pairs[n++] = (struct conf_pair){
                .key = arena_str(a, key), .value = arena_str(a, word), .op = '='};
    partition_init(&p);
    if (partition_load(&p, pairs, n, NULL) < 0 || !p.name)
        return;
    partition_print(&p, &all);
    rest = buf_view(&all);
    while (str_split(&rest, ' ', &word))
        if (str_split(&word, '=', &key) && word.n)
            jsn_set_str(a, config, arena_str(a, key), arena_str(a, word));
    jsn_set_str(a, item, "name", p.name);
    jsn_set(a, item, "config", config);
    jsn_append(a, items, item);
}

/* What a slurmctld has that took the live files as they are. */
static struct jsn *partitions_of_files(struct arena *a)
{
    AUTO(free) char *path = xasprintf("%s/slurm.conf", live);
    AUTO(free) char *text = NULL;
    struct jsn *answer = jsn_object(a), *items = jsn_array(a);
    struct str rest, line;
    size_t n = 0;

    if (file_read(path, (size_t)1 << 20, &text, &n, NULL) < 0)
        n = 0;
    rest = (struct str){text ? text : "", n};
    while (str_split(&rest, '\n', &line))
        if (str_starts(line, "PartitionName="))
            add_partition(a, items, line);
    jsn_set_bool(a, answer, "ok", true);
    jsn_set_int(a, answer, "time", 7);
    jsn_set(a, answer, "items", items);
    return answer;
}

static void answer_partitions(struct call *c)
{
    static const char *const texts[] = {
        "{\"ok\":true,\"time\":7,\"items\":[{\"name\":\"compute\",\"config\":{\"PartitionName\":"
        "\"compute\",\"Nodes\":\"n1\",\"State\":\"UP\",\"MaxTime\":\"UNLIMITED\"},\"nodesets\":"
        "\"\"}]}",
        "{\"ok\":true,\"time\":8,\"items\":[]}",
        "{\"ok\":true,\"time\":9,\"items\":[{\"name\":\"compute\",\"config\":{\"State\":\"DRAIN\"}}"
        ","
        "{\"name\":\"debug\",\"config\":{\"Nodes\":\"n1\",\"MaxTime\":\"00:10:00\"}}]}",
        "{\"ok\":true,\"unchanged\":true}",
    };

    AUTO(arena_done) struct arena a = {0};

    if (world.partitions == 0)
        answer_with(c, 0, partitions_of_files(&a));
    else
        answer_text(c, 0, texts[world.partitions % ARRAY_LEN(texts)]);
}

static void answer_as_usual(struct call *c)
{
    static const struct {
        const char *call;
        const char *text;
    } table[] = {
        {"ping",
         "{\"ok\":true,\"up\":true,\"release\":\"22.05.8\",\"bootTime\":5,\"controllers\":[]}"},
        {"nodes", "{\"ok\":true,\"time\":5,\"items\":[{\"name\":\"n1\",\"state\":\"IDLE\","
                  "\"slurmdStartTime\":3},{\"name\":\"d1\",\"state\":\"IDLE+DYNAMIC_NORM\"}]}"},
        {"jobs", "{\"ok\":true,\"time\":6,\"items\":[{\"id\":1,\"state\":\"RUNNING\",\"partition\":"
                 "\"compute\",\"nodes\":\"n1\",\"endTime\":50}]}"},
        {"reservations", "{\"ok\":true,\"time\":6,\"items\":[]}"},
    };

    if (world.down) {
        answer_text(c, -EHOSTDOWN, "{\"ok\":false,\"error\":{\"kind\":\"down\"}}");
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        if (streq(c->name, table[i].call)) {
            answer_text(c, 0, table[i].text);
            return;
        }
    }
    if (streq(c->name, "partitions"))
        answer_partitions(c);
    else
        answer_text(c, 0, "{\"ok\":true}");
}

static void answer_all(void *arg)
{
    size_t n = 0;

    (void)arg;
    for (struct list *at = world.calls.next; at != &world.calls; at = at->next)
        n++;
    for (; n > 0 && !world.held && !list_empty(&world.calls); n--)
        answer_as_usual(LIST_ENTRY(world.calls.next, struct call, link));
}

int __wrap_link_call(struct link *link, enum link_lane lane, const struct jsn *request,
                     uint64_t timeout_ms, link_answer_fn fn, void *arg)
{
    const char *name = jsn_get_str(request, "call");
    struct call *c;

    assert(link == world.link && lane < LANE_N && name && timeout_ms > 0);
    if (world.full)
        return -E2BIG;
    c = xcalloc(1, sizeof(*c));
    *c = (struct call){.name = xstrdup(name), .fn = fn, .arg = arg};
    list_append(&world.calls, &c->link);
    loop_timer_arm(world.answering, 0);
    return 0;
}

static int failure_of(const struct jsn *v, unsigned char n)
{
    static const int failures[] = {-EREMOTEIO, -EHOSTDOWN, -EACCES,  -EBUSY,
                                   -EINVAL,    -ETIMEDOUT, -ENOEXEC, -EBADMSG};

    return jsn_get_bool(v, "ok", false) ? 0 : failures[n % ARRAY_LEN(failures)];
}

static void answer_scripted(struct peers *p, unsigned char n)
{
    AUTO(arena_done) struct arena a = {0};
    struct jsn *v = NULL;

    if (!list_empty(&world.calls)) {
        struct call *c = LIST_ENTRY(world.calls.next, struct call, link);

        if (jsn_parse(&a, buf_view(&p->gathered), NULL, &v, NULL) < 0 || !jsn_is(v, JSN_OBJECT))
            v = NULL;
        answer_with(c, failure_of(v, n), v);
    }
    buf_clear(&p->gathered);
}

/* Long polls wait from a version on, which no script can know. */
static void note_version(void *arg, struct str data)
{
    static const char key[] = "\"version\":\"";
    const char *at = memmem(data.p, data.n, key, sizeof(key) - 1);
    struct str rest;

    (void)arg;
    if (!at)
        return;
    at += sizeof(key) - 1;
    rest = (struct str){at, data.n - (size_t)(at - data.p)};
    (void)snprintf(version, sizeof(version), "%.*s", (int)MIN(str_find(rest, '"'), (size_t)60), at);
}

static void start(struct world *w);
static void stop(struct world *w);

/* The agent ends, and another one takes up what it left. */
static void start_again(struct world *w)
{
    stop(w);
    w->full = false;
    start(w);
}

static void take_step(void *arg, struct peers *p, char step, unsigned char n)
{
    (void)arg;
    if (step == 'V') {
        buf_adds(&p->gathered, version);
        return;
    }
    if (step == 'A')
        answer_scripted(p, n);
    else
        peers_send(p);
    if (step == 'B')
        start_again(&world);
    if (step == 'H')
        world.held = n % 2;
    else if (step == 'P')
        world.partitions = n;
    else if (step == 'U')
        world.down = n % 2 == 0;
    else if (step == 'E')
        world.full = n % 2;
    loop_timer_arm(world.answering, 0);
    peers_turn(p, 8);
}

static void adopt(void *arg, int fd)
{
    (void)arg;
    http_server_adopt(world.servers[world.peers->now < 2], fd);
}

static bool note_peer(void *arg, struct peers *p)
{
    (void)arg;
    world.peers = p;
    return false;
}

static void forget_dir(void)
{
    (void)!file_remove_tree(live, NULL);
}

/* The directory of every run holds what slurmctld was started with, and no record. */
static void prepare_dir(void)
{
    static bool made;
    AUTO(free) char *conf = NULL;

    if (made)
        (void)!file_remove_tree(live, NULL);
    else if (!mkdtemp(live) || atexit(forget_dir) != 0)
        abort();
    made = true;
    conf = xasprintf("%s/slurm.conf", live);
    (void)snprintf(marker, sizeof(marker), "%s/.marker", live);
    (void)snprintf(proven, sizeof(proven), "%s/.proven", live);
    if (file_make_dirs(proven, 0700, NULL) < 0 ||
        file_write(conf,
                   STR("ClusterName=c\nSlurmctldHost=localhost\nNodeName=n1 CPUs=1\n"
                       "PartitionName=compute Nodes=n1\n"),
                   0644, NULL) < 0)
        abort();
}

static void on_up(void *arg)
{
    (void)arg;
    engine_on_up(world.engine);
}

static void on_round(void *arg)
{
    (void)arg;
    engine_on_round(world.engine);
}

static void start(struct world *w)
{
    struct link_options link = {.program = "/nonexistent", .slurm_conf = "/nonexistent"};
    struct hub_events events = {.on_up = on_up, .on_round = on_round};
    struct engine_options engine = {0};
    struct err e = {0};

    w->link = link_new(w->loop, &link);
    w->hub = hub_new(w->loop, w->link, &events, w);
    w->metrics = metrics_new();
    metrics_watch(w->metrics, w->hub, w->link);
    if (store_open(live, &w->store, &e) < 0)
        abort();
    engine = (struct engine_options){.loop = w->loop,
                                     .link = w->link,
                                     .store = w->store,
                                     .hub = w->hub,
                                     .metrics = w->metrics,
                                     .marker = marker,
                                     .proven = proven};
    w->engine = engine_new(&engine);
    if (engine_start(w->engine, &e) < 0)
        abort();
    secret_set(&w->token, STR("secret"));
    for (int i = 0; i < 2; i++) {
        struct http_server_options o = {.handler = routes_handle, .arg = &w->routes[i]};

        w->routes[i] = (struct routes){.loop = w->loop,
                                       .link = w->link,
                                       .hub = w->hub,
                                       .engine = w->engine,
                                       .metrics = w->metrics,
                                       .token = i ? &w->token : NULL};
        if (http_server_new(w->loop, &o, &w->servers[i], &e) < 0)
            abort();
    }
    hub_start(w->hub);
}

static void stop(struct world *w)
{
    for (int i = 0; i < 2; i++)
        w->servers[i] = http_server_free(w->servers[i]);
    w->full = true;
    while (!list_empty(&w->calls))
        answer_with(LIST_ENTRY(w->calls.next, struct call, link), -EPIPE, NULL);
    (void)loop_turn(w->loop, 0); /* what ended by that goes with the turn, as in the agent */
    w->link = link_free(w->link);
    w->engine = engine_free(w->engine);
    w->hub = hub_free(w->hub);
    w->metrics = metrics_free(w->metrics);
    w->store = store_free(w->store);
    secret_done(&w->token);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct peers_target t = {
        .connect = adopt, .send = note_peer, .heard = note_version, .step = take_step};

    script_clock_reset();
    prepare_dir();
    world = (struct world){0};
    version[0] = '\0';
    list_init(&world.calls);
    if (loop_new(&world.loop, NULL) < 0)
        abort();
    world.answering = loop_add_timer(world.loop, answer_all, NULL);
    start(&world);
    peers_run(world.loop, &t, data, size);
    stop(&world);
    world.answering = loop_source_free(world.answering);
    world.loop = loop_free(world.loop);
    return 0;
}
