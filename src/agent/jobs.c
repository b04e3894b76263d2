/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Jobs by node and by partition.
 *
 * Watchers do not get the list of jobs: what they ask is whether a node is busy and until when, and
 * what keeps a partition from going.  Both are sums over the jobs that have not ended.
 */
#include "src/agent/jobs.h"

#include "src/base/alloc.h"
#include "src/slurm/hostlist.h"

static void group_free(void *p)
{
    struct jobs_group *g = p;

    free(g->ids);
    free(g);
}

void jobs_init(struct jobs *j)
{
    *j = (struct jobs){0};
    map_init(&j->nodes, group_free);
    map_init(&j->partitions, group_free);
}

void jobs_done(struct jobs *j)
{
    map_done(&j->nodes);
    map_done(&j->partitions);
    *j = (struct jobs){0};
}

/* id 0: counted, but not named. */
static void group_add(struct map *m, struct str name, int64_t id, bool running, int64_t end)
{
    struct jobs_group *g = map_get(m, name);

    if (!g) {
        g = xcalloc(1, sizeof(*g));
        (void)map_put(m, name, g);
    }
    if (id != 0) {
        array_reserve(&g->ids, &g->cap, g->n + 1, sizeof(*g->ids));
        g->ids[g->n++] = id;
    }
    g->running += running;
    g->pending += !running;
    if (running && end > g->busy_until)
        g->busy_until = end;
}

/* "RUNNING", "RUNNING+COMPLETING": the base comes first. */
static bool state_is(const char *state, const char *base)
{
    size_t n = strlen(base);

    return state && strncmp(state, base, n) == 0 && (state[n] == '\0' || state[n] == '+');
}

static void on_nodes(struct jobs *j, const struct jsn *job, int64_t id)
{
    AUTO(hostlist_free) struct host_list *hosts = NULL;
    AUTO(buf_done) struct buf name = {0};
    struct host_iter it = {0};
    const char *nodes = jsn_get_str(job, "nodes");

    if (!nodes || hostlist_parse(str_of(nodes), &hosts, NULL) < 0)
        return;
    while (hostlist_next(hosts, &it, &name))
        group_add(&j->nodes, buf_view(&name), id, true, jsn_get_int(job, "endTime", 0));
}

static void job_take(struct jobs *j, const struct jsn *job)
{
    const char *state = jsn_get_str(job, "state");
    int64_t id = jsn_get_int(job, "id", 0);
    bool completing = state && strstr(state, "COMPLETING");
    bool running = state_is(state, "RUNNING") || state_is(state, "SUSPENDED") || completing;
    struct str rest = str_of(jsn_get_str(job, "partition"));
    struct str partition;

    if (!running && !state_is(state, "PENDING"))
        return;
    j->running += running;
    j->pending += !running;
    if (running)
        on_nodes(j, job, id);
    /* only the first of several keeps its partition from being deleted */
    for (; rest.p && str_split(&rest, ',', &partition); id = 0)
        group_add(&j->partitions, partition, id, running, jsn_get_int(job, "endTime", 0));
}

void jobs_take(struct jobs *j, const struct jsn *items)
{
    jobs_done(j);
    jobs_init(j);
    JSN_FOR_ITEMS (job, items)
        job_take(j, job);
}

const struct jobs_group *jobs_of_node(const struct jobs *j, const char *node)
{
    return map_get(&j->nodes, str_of(node));
}

const struct jobs_group *jobs_of_partition(const struct jobs *j, const char *partition)
{
    return map_get(&j->partitions, str_of(partition));
}
