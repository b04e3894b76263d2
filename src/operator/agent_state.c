/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Slurm's state from an agent's answers.
 *
 * Nodes and partitions are kept sorted by name, each in an arena of its own, so that an answer that
 * changes one of ten thousand costs that one.  The rest (drift, what waits, the configuration's
 * fate) is small and comes as a whole whenever it changes.
 *
 * A node whose state cannot be read counts as one whose jobs are not known, and so as busy.
 */
#include "src/operator/agent_state.h"

#include "src/base/alloc.h"
#include "src/base/clock.h"
#include "src/operator/shelf.h"
#include "src/slurm/line_text.h"
#include "src/wire/state.h"
#include "src/wire/version.h"

#define MAX_RECORDS 200000
#define MAX_JOB_IDS 8

struct agent_state {
    char *version;
    char *boot;
    struct shelf nodes;
    struct shelf partitions;
    struct arena drift_arena;
    struct arena config_arena;
    struct arena slurmctld_arena;
    struct wire_outcome config;
    struct buf drift_text; /* as they came last, to see whether they are news */
    struct buf config_text;
    struct buf waiting_text;
    bool up;
    const char *release;
    const char *key_stage;
    const char *error; /* why slurmctld cannot be talked to; NULL: nothing is known */
    struct slurm_state view;
};

struct agent_state *agent_state_new(void)
{
    struct agent_state *s = xcalloc(1, sizeof(*s));

    s->version = xstrdup("");
    s->boot = xstrdup("");
    s->config.result = -1;
    s->nodes = (struct shelf){.size = sizeof(struct slurm_node)};
    s->partitions = (struct shelf){.size = sizeof(struct slurm_partition)};
    return s;
}

struct agent_state *agent_state_free(struct agent_state *s)
{
    if (!s)
        return NULL;
    shelf_done(&s->nodes);
    shelf_done(&s->partitions);
    arena_done(&s->drift_arena);
    arena_done(&s->config_arena);
    arena_done(&s->slurmctld_arena);
    buf_done(&s->drift_text);
    buf_done(&s->config_text);
    buf_done(&s->waiting_text);
    free(s->version);
    free(s->boot);
    free(s);
    return NULL;
}

static const char *copy(struct arena *a, const char *text)
{
    return text && text[0] ? arena_strdup(a, text) : NULL;
}

static void read_jobs(struct arena *a, const struct jsn *list, struct slurm_node *n)
{
    uint32_t *ids = arena_calloc(a, MAX_JOB_IDS, sizeof(*ids));

    n->jobs_known = n->jobs_known && jsn_is(list, JSN_ARRAY);
    n->jobs = (unsigned)jsn_len(list);
    JSN_FOR_ITEMS (job, list)
        if (n->n_job_ids < MAX_JOB_IDS && jsn_is(job, JSN_INT))
            ids[n->n_job_ids++] = (uint32_t)job->i;
    n->job_ids = ids;
}

/* Older agents tell of features and weight alone, which is not enough to compare anything. */
static const struct slurm_node_params *read_params(struct arena *a, const struct wire_node *w)
{
    struct slurm_node_params *p;

    if (!w->threads)
        return NULL;
    p = arena_calloc(a, 1, sizeof(*p));
    *p = (struct slurm_node_params){.features = copy(a, w->features),
                                    .gres = copy(a, w->gres),
                                    .topology = copy(a, w->topology),
                                    .cpus = w->cpus,
                                    .boards = w->boards,
                                    .sockets = w->sockets,
                                    .cores = w->cores,
                                    .threads = w->threads,
                                    .memory = w->memory,
                                    .tmp_disk = w->tmp_disk,
                                    .mem_spec = w->mem_spec,
                                    .core_spec = w->core_spec,
                                    .weight = w->weight};
    return p;
}

/* One that cannot be read is there, and counts as busy. */
static void read_node(struct arena *scratch, struct shelf *s, const struct jsn *v)
{
    struct wire_node_jobs jobs = {0};
    struct wire_node w = {0};
    struct err e = {0};
    bool good = fields_decode(scratch, wire_node_fields, v, &w, &e) == 0 &&
                fields_decode(scratch, wire_node_jobs_fields, v, &jobs, &e) == 0;
    struct arena *a;
    struct slurm_node *n = shelf_put(s, jsn_get_str(v, "name"), &a);

    n->name = arena_strdup(a, jsn_get_str(v, "name"));
    if (!good)
        return;
    n->jobs_known = w.state && nodestate_parse(str_of(w.state), &n->state, &e) == 0;
    n->reason = line_text_clean(a, copy(a, w.reason));
    n->comment = line_text_clean(a, copy(a, w.comment));
    n->busy_until_us = clock_s_to_us(MAX(jobs.busy_until, 0));
    n->started_us = clock_s_to_us(MAX(w.slurmd_start_time, 0));
    n->reason_user = copy(a, w.reason_user);
    n->release = copy(a, w.version);
    n->params = read_params(a, &w);
    read_jobs(a, jobs.jobs, n);
}

/* It was checked before. */
static void read_partition(struct arena *scratch, struct shelf *s, const struct jsn *v)
{
    struct wire_job_counts jobs = {0};
    struct wire_partition w = {0};
    struct arena *a;
    struct slurm_partition *p = shelf_put(s, jsn_get_str(v, "name"), &a);

    (void)!fields_decode(scratch, wire_partition_fields, v, &w, NULL);
    (void)!fields_decode(scratch, wire_job_counts_fields, v, &jobs, NULL);
    p->name = arena_strdup(a, jsn_get_str(v, "name"));
    p->nodes = copy(a, w.nodes);
    p->total_nodes = (unsigned)w.total_nodes;
    p->pending = jobs.pending;
    p->running = jobs.running;
    p->config.items = arena_calloc(a, jsn_len(w.config) + 1, sizeof(*p->config.items));
    JSN_FOR_MEMBERS (m, w.config)
        if (jsn_is(m->value, JSN_STRING))
            p->config.items[p->config.n++] =
                (struct jsn_pair){arena_str(a, m->key), arena_str(a, m->value->s)};
}

static int by_name(const void *a, const void *b)
{
    return strcmp(jsn_get_str(*(const struct jsn *const *)a, "name"),
                  jsn_get_str(*(const struct jsn *const *)b, "name"));
}

/* Each record of a list; in order of names, so that a whole list is put together at its end. */
static void read_list(struct arena *scratch, struct shelf *s, const struct jsn *list,
                      void (*read)(struct arena *scratch, struct shelf *s, const struct jsn *v))
{
    const struct jsn **sorted = arena_calloc(scratch, jsn_len(list) + 1, sizeof(*sorted));
    size_t n = 0;

    JSN_FOR_ITEMS (v, list)
        sorted[n++] = v;
    if (n)
        qsort(sorted, n, sizeof(*sorted), by_name);
    for (size_t i = 0; i < n; i++)
        read(scratch, s, sorted[i]);
}

/* Does a node that was there say another release of its slurmd? */
static bool changes_releases(const struct agent_state *s, const struct jsn *nodes)
{
    JSN_FOR_ITEMS (v, nodes) {
        const struct slurm_node *n = slurm_state_node(&s->view, jsn_get_str(v, "name"));
        const char *release = jsn_get_str(v, "version");

        if (n && release && release[0] && !streq(n->release, release))
            return true;
    }
    return false;
}

static void remove_list(struct shelf *s, const struct jsn *names)
{
    JSN_FOR_ITEMS (name, names)
        if (jsn_is(name, JSN_STRING))
            (void)shelf_del(s, jsn_text(name));
}

static void read_drift(struct agent_state *s, const struct jsn *list)
{
    struct slurm_drift *drift;

    arena_done(&s->drift_arena);
    s->drift_arena = (struct arena){0};
    drift = arena_calloc(&s->drift_arena, jsn_len(list) + 1, sizeof(*drift));
    s->view.n_drift = 0;
    JSN_FOR_ITEMS (v, list) {
        struct wire_drift w = {0};

        if (fields_decode(&s->drift_arena, wire_drift_fields, v, &w, NULL) < 0 || !w.partition[0] ||
            !w.field[0])
            continue;
        drift[s->view.n_drift++] = (struct slurm_drift){
            .partition = w.partition,
            .field = w.field,
            .declared = copy(&s->drift_arena, w.declared),
            .live = copy(&s->drift_arena, w.live),
        };
    }
    s->view.drift = drift;
}

static void read_waiting(struct agent_state *s, const struct jsn *list)
{
    struct arena *a = &s->config_arena;
    struct slurm_waiting *waiting = arena_calloc(a, jsn_len(list) + 1, sizeof(*waiting));

    s->view.n_waiting = 0;
    JSN_FOR_ITEMS (v, list) {
        struct slurm_waiting *to = &waiting[s->view.n_waiting];
        struct wire_waiting w = {0};
        uint32_t *ids;

        if (fields_decode(a, wire_waiting_fields, v, &w, NULL) < 0 || !w.partition[0])
            continue;
        ids = arena_calloc(a, jsn_len(w.jobs) + 1, sizeof(*ids));
        *to = (struct slurm_waiting){.partition = w.partition, .jobs = ids};
        JSN_FOR_ITEMS (job, w.jobs)
            if (jsn_is(job, JSN_INT))
                ids[to->n++] = (uint32_t)job->i;
        s->view.n_waiting++;
    }
    s->view.waiting = waiting;
}

/* It was checked before. */
static void read_config(struct agent_state *s, const struct jsn *v)
{
    struct err e = {0};

    arena_done(&s->config_arena);
    s->config_arena = (struct arena){0};
    s->config = (struct wire_outcome){.result = -1};
    if (v)
        (void)!wire_outcome_decode(&s->config_arena, v, &s->config, &e);
    read_waiting(s, s->config.waiting);
}

/* May this be an outcome, of a version that is known here? */
static int check_config(const struct jsn *v, struct err *e)
{
    AUTO(arena_done) struct arena a = {0};
    struct wire_outcome o;
    int r = v ? wire_outcome_decode(&a, v, &o, e) : 0;

    return r < 0 ? err_wrap(e, r, "the agent's state cannot be read") : 0;
}

/* Returns whether it is another one, or there now, or gone. */
static bool read_slurmctld(struct agent_state *s, struct arena *scratch, const struct jsn *v)
{
    struct wire_slurmctld w = {0};

    if (fields_decode(scratch, wire_slurmctld_fields, v, &w, NULL) < 0)
        w = (struct wire_slurmctld){0}; /* not known: not up */
    w.release = copy(scratch, w.release);
    if (w.up == s->up && streq(w.release, s->release) && streq(w.error, s->error) &&
        streq(w.keys, s->key_stage))
        return false;
    arena_done(&s->slurmctld_arena);
    s->slurmctld_arena = (struct arena){0};
    s->up = w.up;
    s->release = copy(&s->slurmctld_arena, w.release);
    s->error = copy(&s->slurmctld_arena, w.error);
    s->key_stage = copy(&s->slurmctld_arena, w.keys);
    return true;
}

/* A section comes with every answer; is it another one than before? */
static bool is_news(struct buf *last, const struct jsn *section)
{
    AUTO(buf_done) struct buf text = {0};

    if (section)
        jsn_print(&text, section);
    if (str_eq(buf_view(last), buf_view(&text)))
        return false;
    buf_clear(last);
    buf_addstr(last, buf_view(&text));
    return true;
}

static int check_list(const struct jsn *list, const char *what, struct err *e)
{
    if (jsn_len(list) > MAX_RECORDS)
        return err_set(e, -EBADMSG, ERR_RETRY, "the agent tells of %zu %s", jsn_len(list), what);
    JSN_FOR_ITEMS (v, list) {
        const char *name = jsn_get_str(v, "name");

        if (!name || !name[0])
            return err_set(e, -EBADMSG, ERR_RETRY, "the agent tells of %s without a name", what);
    }
    return 0;
}

/* Of partitions that are half known nobody could say whether they have jobs. */
static int check_partitions(const struct jsn *list, struct err *e)
{
    AUTO(arena_done) struct arena a = {0};
    int r = check_list(list, "partitions", e);

    JSN_FOR_ITEMS (v, list) {
        struct wire_partition w = {0};
        struct wire_job_counts jobs = {0};

        if (r == 0)
            r = fields_decode(&a, wire_partition_fields, v, &w, e);
        if (r == 0)
            r = fields_decode(&a, wire_job_counts_fields, v, &jobs, e);
        if (r < 0)
            return err_wrap(e, -EBADMSG, "the agent's state cannot be read: partition '%s'",
                            jsn_get_str(v, "name"));
    }
    return r;
}

static int check(const struct jsn *answer, struct err *e)
{
    const char *version = jsn_get_str(answer, "version");
    int r;

    if (!version || !version[0])
        return err_set(e, -EBADMSG, ERR_RETRY, "the agent's state has no version");
    r = wire_version_check(answer, "agent", "operator", e);
    if (r == 0)
        r = check_config(jsn_key(answer, "config"), e);
    if (r == 0)
        r = check_list(jsn_key(answer, "nodes"), "nodes", e);
    return r < 0 ? r : check_partitions(jsn_key(answer, "partitions"), e);
}

/* Names of records that an answer has, and of those that it says are gone. */
static const char *const *note_names(struct arena *a, const struct jsn *list,
                                     const struct jsn *removed, size_t *ret_n)
{
    const char **names =
        arena_calloc(a, jsn_len(list) + jsn_len(removed) + 1, sizeof(const char *));
    size_t n = 0;

    JSN_FOR_ITEMS (v, list)
        names[n++] = arena_strdup(a, jsn_get_str(v, "name"));
    JSN_FOR_ITEMS (v, removed)
        if (jsn_is(v, JSN_STRING))
            names[n++] = arena_strdup(a, jsn_text(v));
    *ret_n = n;
    return names;
}

static void note_drifted(struct arena *a, const struct agent_state *s, struct agent_change *ret)
{
    size_t n = ret->n_drifted + s->view.n_drift;
    const char **names = arena_calloc(a, n + 1, sizeof(const char *));

    for (size_t i = 0; i < ret->n_drifted; i++)
        names[i] = ret->drifted[i];
    for (size_t i = 0; i < s->view.n_drift; i++)
        names[ret->n_drifted++] = arena_strdup(a, s->view.drift[i].partition);
    ret->drifted = names;
}

static void take_version(struct agent_state *s, const char *version)
{
    const char *dash = strrchr(version, '-');

    free(s->version);
    free(s->boot);
    s->version = xstrdup(version);
    s->boot = xstrndup(version, dash ? (size_t)(dash - version) : strlen(version));
}

static void publish(struct agent_state *s)
{
    s->view.nodes = (const struct slurm_node *)(const void *)s->nodes.items;
    s->view.n = s->nodes.n;
    s->view.partitions = (const struct slurm_partition *)(const void *)s->partitions.items;
    s->view.n_partitions = s->partitions.n;
    s->view.partitions_known = true;
}

int agent_state_update(struct agent_state *s, const struct jsn *answer, struct arena *a,
                       struct agent_change *ret, struct err *e)
{
    const struct jsn *nodes = jsn_key(answer, "nodes");
    const struct jsn *partitions = jsn_key(answer, "partitions");
    bool config;
    int r = check(answer, e);

    if (r < 0)
        return r;
    *ret = (struct agent_change){.full = jsn_get_bool(answer, "full", true)};
    ret->drift = (ret->full || jsn_key(answer, "drift")) &&
                 is_news(&s->drift_text, jsn_key(answer, "drift"));
    config = (ret->full || jsn_key(answer, "config")) &&
             is_news(&s->config_text, jsn_key(answer, "config"));
    ret->releases = changes_releases(s, nodes);
    if (ret->full) {
        shelf_clear(&s->nodes);
        shelf_clear(&s->partitions);
    }
    read_list(a, &s->nodes, nodes, read_node);
    read_list(a, &s->partitions, partitions, read_partition);
    remove_list(&s->nodes, jsn_get(answer, "removed.nodes"));
    remove_list(&s->partitions, jsn_get(answer, "removed.partitions"));
    if (jsn_key(answer, "slurmctld"))
        ret->slurmctld = read_slurmctld(s, a, jsn_key(answer, "slurmctld"));
    if (ret->drift) {
        note_drifted(a, s, ret);
        read_drift(s, jsn_key(answer, "drift"));
        note_drifted(a, s, ret);
    }
    if (config) {
        read_config(s, jsn_key(answer, "config"));
        ret->config =
            is_news(&s->waiting_text, jsn_len(s->config.waiting) > 0 ? s->config.waiting : NULL);
    }
    ret->nodes = note_names(a, nodes, jsn_get(answer, "removed.nodes"), &ret->n_nodes);
    ret->partitions =
        note_names(a, partitions, jsn_get(answer, "removed.partitions"), &ret->n_partitions);
    take_version(s, jsn_get_str(answer, "version"));
    publish(s);
    return 0;
}

const char *agent_state_version(const struct agent_state *s)
{
    return s->version;
}

const char *agent_state_boot(const struct agent_state *s)
{
    return s->boot;
}

const struct slurm_state *agent_state_view(const struct agent_state *s)
{
    return &s->view;
}

bool agent_state_up(const struct agent_state *s)
{
    return s->up;
}

const char *agent_state_release(const struct agent_state *s)
{
    return s->release;
}

const char *agent_state_error(const struct agent_state *s)
{
    return s->error;
}

const struct wire_outcome *agent_state_config(const struct agent_state *s)
{
    return &s->config;
}

const char *agent_state_key_stage(const struct agent_state *s)
{
    return s->key_stage;
}
