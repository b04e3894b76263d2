/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Differences between nodes.
 *
 * NodeName lines name groups, and groups can be cut differently in two files that mean the same.
 * So every node of both files is looked up, and nodes whose line in the old and line in the new
 * file are the same pair are compared once, as a group; a difference then reads "node n[6-10]".
 *
 * Addresses, host names and ports are lists along the names of a line; they are compared element by
 * element.  Sockets, cores, threads and CPUs are compared as the numbers that Slurm works out from
 * whichever of them are given.
 */
#include <strings.h>

#include "src/base/alloc.h"
#include "src/slurm/diff_impl.h"

/* The lists along the names, in the order in which one falls back to the one before. */
enum along { ALONG_HOSTNAME, ALONG_ADDR, ALONG_BCAST, ALONG_PORT, N_ALONG };
static const char *const along_keys[] = {"NodeHostname", "NodeAddr", "BcastAddr", "Port"};

/* A node of one file: its line, and its own elements of the lists along. */
struct node_ref {
    const struct model_object *object;
    const char *along[N_ALONG];
};

/* Nodes that have the same line in the old file and the same line in the new one. */
struct group {
    const struct model_object *from;
    const struct model_object *to;
    struct host_list *names;
    struct host_list *differ[N_ALONG]; /* names whose element differs */
    const char *from_along[N_ALONG];   /* of the first that differs */
    const char *to_along[N_ALONG];
};

static void group_free(void *p)
{
    struct group *g = p;

    hostlist_free(g->names);
    for (unsigned i = 0; i < N_ALONG; i++)
        hostlist_free(g->differ[i]);
    free(g);
}

/* A Port list may stand without brackets: "7001-7010". */
static int along_parse(enum along which, const char *value, struct host_list **ret)
{
    AUTO(free) char *bracketed = NULL;

    if (which == ALONG_PORT && value[0] != '[' && strpbrk(value, "-,"))
        bracketed = xasprintf("[%s]", value);
    return hostlist_parse(str_of(bracketed ? bracketed : value), ret, NULL);
}

/* One of the lists along a line, and the element of the node at hand. */
struct walker {
    struct host_list *list;
    struct host_iter it;
    struct buf element;
};

static void walkers_start(const struct model_object *o, struct walker w[N_ALONG])
{
    for (unsigned i = 0; i < N_ALONG; i++) {
        const char *value = model_get(o, along_keys[i]);

        w[i] = (struct walker){0};
        if (value && along_parse((enum along)i, value, &w[i].list) < 0)
            w[i].list = NULL;
    }
}

static void walkers_stop(struct walker w[N_ALONG])
{
    for (unsigned i = 0; i < N_ALONG; i++) {
        hostlist_free(w[i].list);
        buf_done(&w[i].element);
    }
}

/* Step all lists; a list that has run out keeps its last element, as in Slurm. */
static void walkers_step(struct walker w[N_ALONG], struct arena *a, struct node_ref *ref)
{
    for (unsigned i = 0; i < N_ALONG; i++) {
        AUTO(buf_done) struct buf next = {0};

        if (!w[i].list)
            continue;
        if (hostlist_next(w[i].list, &w[i].it, &next)) {
            buf_clear(&w[i].element);
            buf_addstr(&w[i].element, buf_view(&next));
        }
        ref->along[i] = arena_str(a, buf_view(&w[i].element));
    }
}

static void nodes_index(const struct model *m, struct arena *a, struct map *ret)
{
    AUTO(buf_done) struct buf name = {0};

    for (size_t i = 0; i < m->n_objects; i++) {
        AUTO(hostlist_free) struct host_list *names = NULL;
        const struct model_object *o = &m->objects[i];
        struct host_iter it = {0};
        struct walker along[N_ALONG];

        if (o->section != CONF_NODE || hostlist_parse(str_of(o->name), &names, NULL) < 0)
            continue;
        walkers_start(o, along);
        while (hostlist_next(names, &it, &name)) {
            struct node_ref *ref = arena_calloc(a, 1, sizeof(*ref));

            ref->object = o;
            walkers_step(along, a, ref);
            map_put(ret, buf_view(&name), ref);
        }
        walkers_stop(along);
    }
}

/* An element, or what stands for it where the line has no such list. */
static const char *along_of(const struct node_ref *ref, enum along which, const char *name)
{
    if (ref->along[which])
        return ref->along[which];
    if (which == ALONG_ADDR)
        return along_of(ref, ALONG_HOSTNAME, name);
    return which == ALONG_HOSTNAME ? name : "";
}

static struct group *group_get(struct map *groups, const struct model_object *from,
                               const struct model_object *to)
{
    const struct model_object *both[2] = {from, to};
    struct str key = {(const char *)both, sizeof(both)};
    struct group *g = map_get(groups, key);

    if (!g) {
        g = xcalloc(1, sizeof(*g));
        g->from = from;
        g->to = to;
        g->names = hostlist_new();
        map_put(groups, key, g);
    }
    return g;
}

static void along_compare(struct group *g, const struct node_ref *from, const struct node_ref *to,
                          struct arena *a, const char *name)
{
    for (unsigned i = 0; i < N_ALONG; i++) {
        const char *x = along_of(from, (enum along)i, name);
        const char *y = along_of(to, (enum along)i, name);

        if (streq(x, y))
            continue;
        if (!g->differ[i]) {
            g->differ[i] = hostlist_new();
            g->from_along[i] = arena_strdup(a, x);
            g->to_along[i] = arena_strdup(a, y);
        }
        hostlist_push(g->differ[i], str_of(name));
    }
}

/* What Slurm makes of the processor keys of a line. */
enum shape { BOARDS, SOCKETS, CORES, THREADS, CPUS, N_SHAPE };
static const char *const shape_keys[] = {"Boards", "Sockets", "CoresPerSocket", "ThreadsPerCore",
                                         "CPUs"};
_Static_assert(ARRAY_LEN(shape_keys) == N_SHAPE, "a number of the shape has no key");

/* A count of a line; `otherwise` where it is not set or not readable.  0 counts as not set. */
static uint64_t count_of(const struct model_object *o, const char *key, uint64_t otherwise)
{
    const char *value = model_get(o, key);
    uint64_t n;

    if (!value || value_number((struct value_type){VALUE_U16, NULL}, str_of(value), &n) < 0 ||
        n == 0)
        return otherwise;
    return MIN(n, (uint64_t)UINT16_MAX);
}

static void shape_of(const struct model_object *o, uint64_t ret[N_SHAPE])
{
    uint64_t per_board = count_of(o, "SocketsPerBoard", 0);
    uint64_t boards = count_of(o, "Boards", 1);
    uint64_t sockets = count_of(o, "Sockets", 0);
    uint64_t cores = count_of(o, "CoresPerSocket", 1);
    uint64_t threads = count_of(o, "ThreadsPerCore", 1);
    uint64_t cpus = count_of(o, "CPUs", 0);
    uint64_t in_socket = MAX(cores * threads, (uint64_t)1);

    if (per_board)
        sockets = boards * per_board;
    else if (sockets == 0)
        sockets = cpus >= in_socket && cpus % in_socket == 0 ? cpus / in_socket : boards;
    ret[BOARDS] = boards;
    ret[SOCKETS] = sockets;
    ret[CORES] = cores;
    ret[THREADS] = threads;
    ret[CPUS] = cpus ? cpus : sockets * in_socket;
}

static void shape_compare(struct conf_diff *d, const struct group *g, const char *names)
{
    uint64_t a[N_SHAPE];
    uint64_t b[N_SHAPE];

    shape_of(g->from, a);
    shape_of(g->to, b);
    for (size_t i = 0; i < N_SHAPE; i++) {
        char from[24];
        char to[24];

        if (a[i] == b[i])
            continue;
        (void)snprintf(from, sizeof(from), "%llu", (unsigned long long)a[i]);
        (void)snprintf(to, sizeof(to), "%llu", (unsigned long long)b[i]);
        diff_add(d, (struct conf_change){
                        .what = DIFF_CHANGED,
                        .section = CONF_NODE,
                        .object = names,
                        .key_name = shape_keys[i],
                        .key = keys_find(CONF_SLURM, CONF_NODE, str_of(shape_keys[i])),
                        .from = from,
                        .to = to,
                        .line = g->to->line,
                        .subject = g->to,
                    });
    }
}

/* Keys that shape_compare and along_compare have dealt with. */
static bool skip_key(const struct conf_key *key)
{
    if (!key)
        return false;
    if (key->flags & KEY_PER_NODE || streq(key->name, "SocketsPerBoard"))
        return true;
    for (size_t i = 0; i < ARRAY_LEN(shape_keys); i++)
        if (streq(key->name, shape_keys[i]))
            return true;
    return false;
}

static void along_report(struct conf_diff *d, const struct group *g)
{
    for (unsigned i = 0; i < N_ALONG; i++) {
        AUTO(buf_done) struct buf names = {0};

        if (!g->differ[i])
            continue;
        hostlist_print(g->differ[i], &names);
        diff_add(d, (struct conf_change){
                        .what = DIFF_CHANGED,
                        .section = CONF_NODE,
                        .object = buf_str(&names),
                        .key_name = along_keys[i],
                        .key = keys_find(CONF_SLURM, CONF_NODE, str_of(along_keys[i])),
                        .from = g->from_along[i],
                        .to = g->to_along[i],
                        .line = g->to->line,
                        .subject = g->to,
                    });
    }
}

static void group_report(struct conf_diff *d, const struct group *g)
{
    AUTO(hostset_free) struct host_set *set = hostset_of(g->names);
    AUTO(buf_done) struct buf names = {0};

    hostset_print(set, &names);
    if (!g->from || !g->to) {
        diff_add_object(d, g->to ? DIFF_ADDED : DIFF_REMOVED, g->to ? g->to : g->from,
                        buf_str(&names));
        return;
    }
    shape_compare(d, g, buf_str(&names));
    along_report(d, g);
    diff_values(d, g->from, g->to, buf_str(&names), skip_key);
}

/* Put every node of `all` into its group; `other` is the other file's index. */
static void groups_fill(struct map *groups, const struct model *m, const struct map *own,
                        struct map *other, bool new, struct arena *a)
{
    AUTO(buf_done) struct buf name = {0};

    for (size_t i = 0; i < m->n_objects; i++) {
        AUTO(hostlist_free) struct host_list *names = NULL;
        struct host_iter it = {0};

        if (m->objects[i].section != CONF_NODE ||
            hostlist_parse(str_of(m->objects[i].name), &names, NULL) < 0)
            continue;
        while (hostlist_next(names, &it, &name)) {
            const struct node_ref *here = map_get(own, buf_view(&name));
            const struct node_ref *there = map_get(other, buf_view(&name));
            struct group *g;

            if (here->object != &m->objects[i] || (!new && there))
                continue; /* defined again further down, or done from the other side */
            g = new ? group_get(groups, there ? there->object : NULL, here->object)
                    : group_get(groups, here->object, NULL);
            hostlist_push(g->names, buf_view(&name));
            if (new && there)
                along_compare(g, there, here, a, buf_str(&name));
        }
    }
}

static int group_order(const void *pa, const void *pb)
{
    const struct group *a = *(const struct group *const *)pa;
    const struct group *b = *(const struct group *const *)pb;
    unsigned x = a->to ? a->to->line->line : UINT32_MAX;
    unsigned y = b->to ? b->to->line->line : UINT32_MAX;

    if (x != y)
        return x < y ? -1 : 1;
    x = a->from ? a->from->line->line : 0;
    y = b->from ? b->from->line->line : 0;
    return x < y ? -1 : x > y;
}

/* The next NodeName object from *at on, or NULL. */
static const struct model_object *node_next(const struct model *m, size_t *at)
{
    while (*at < m->n_objects)
        if (m->objects[(*at)++].section == CONF_NODE)
            return &m->objects[*at - 1];
    return NULL;
}

/* True if the NodeName lines are the same text: most changes do not touch nodes at all. */
static bool nodes_same_text(const struct model *from, const struct model *to)
{
    const struct model_object *a;
    const struct model_object *b;
    size_t i = 0;
    size_t k = 0;

    do {
        a = node_next(from, &i);
        b = node_next(to, &k);
        if (!a || !b)
            return a == b;
    } while (diff_same_text(a, b));
    return false;
}

void diff_nodes(struct conf_diff *d, const struct model *from, const struct model *to)
{
    AUTO(arena_done) struct arena a = {0};
    AUTO(map_done) struct map old = {0};
    AUTO(map_done) struct map new = {0};
    AUTO(map_done) struct map groups = {0};
    AUTO(free) struct group **sorted = NULL;
    size_t at = 0;
    size_t n = 0;

    if (nodes_same_text(from, to))
        return;
    map_init(&groups, group_free);
    nodes_index(from, &a, &old);
    nodes_index(to, &a, &new);
    groups_fill(&groups, to, &new, &old, true, &a);
    groups_fill(&groups, from, &old, &new, false, &a);
    sorted = xcalloc(groups.n + 1, sizeof(struct group *));
    while (map_next(&groups, &at, NULL, &sorted[n]))
        n++;
    qsort(sorted, n, sizeof(*sorted), group_order);
    for (size_t i = 0; i < n; i++)
        group_report(d, sorted[i]);
}
