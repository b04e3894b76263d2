/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checking a declaration by its meaning, with our own model.
 *
 *   is it sound       every fault with file and line; unknown nodes, doubles, bad values
 *   what must stay    partitions that leave are kept in the files until slurmctld lets them go
 *   what it costs     compared with what runs
 */
#include "src/agent/apply/engine_impl.h"

#include "src/agent/bound.h"
#include "src/agent/keep.h"
#include "src/base/alloc.h"

int candidate_of(struct engine *g, const struct record *r, uint32_t release, struct candidate **ret,
                 struct err *e)
{
    AUTO(fileset_done) struct fileset files = {0};
    AUTO(faults_done) struct faults faults = {0};
    int ret_code = record_effective(r, &files, e);

    if (ret_code < 0)
        return ret_code;
    return candidate_new(&files, store_live(g->o.store), release, &faults, ret, e);
}

static void problems_add(struct job *j, const struct faults *faults)
{
    for (size_t i = 0; i < faults->n; i++) {
        const struct fault *f = &faults->list[i];
        struct wire_problem p = {
            .severity = f->level == FAULT_FATAL ? WIRE_ERROR : WIRE_WARNING,
            .file = f->file,
            .line = f->line,
            .key = f->key,
            .message = f->text,
        };

        job_problem(j, &p);
    }
}

/* Slurm takes several and makes the last one the default: nobody can mean that. */
static void check_default(const struct model *m, struct faults *faults)
{
    const struct model_object *first = NULL;

    for (size_t i = 0; i < m->n_objects; i++) {
        const struct model_object *o = &m->objects[i];
        AUTO(partition_done) struct partition p = {0};

        partition_init(&p);
        if (o->section != CONF_PARTITION || !model_get(o, "Default") ||
            model_partition(m, o, &p, NULL) < 0 || !p.is_default)
            continue;
        if (first)
            faults_add(faults, FAULT_FATAL, o->line->file, o->line->line, "Default",
                       "partition %s: partition %s is the default already", o->name, first->name);
        first = o;
    }
}

/* slurmctld dies of a line for a node that has registered by itself: of a reconfigure, and of every
 * start that finds the node in its state. */
static void check_dynamic(const struct model *m, const struct host_set *dynamic,
                          struct faults *faults)
{
    for (size_t i = 0; i < m->n_objects; i++) {
        const struct model_object *o = &m->objects[i];
        AUTO(hostlist_free) struct host_list *hosts = NULL;
        AUTO(buf_done) struct buf name = {0};
        struct host_iter it = {0};

        if (o->section != CONF_NODE || hostlist_parse(str_of(o->name), &hosts, NULL) < 0)
            continue;
        while (hostlist_next(hosts, &it, &name))
            if (hostset_has(dynamic, buf_view(&name))) {
                faults_add(faults, FAULT_FATAL, o->line->file, o->line->line, "NodeName",
                           "node %s is a dynamic node of this cluster already; remove the line or "
                           "choose another name",
                           buf_str(&name));
                break;
            }
    }
}

/* Is it sound by itself, as it was declared? */
static int check_declared(struct job *j, struct candidate **ret, struct err *e)
{
    const struct host_set *dynamic = hub_nodes(j->engine->o.hub, true);
    AUTO(candidate_free) struct candidate *c = NULL;
    struct validate_context ctx = {.release = j->seen.release, .dynamic_nodes = dynamic};
    char host[256] = "";
    int r = candidate_new(&j->record->files, store_live(j->engine->o.store), j->seen.release,
                          &j->aim.faults, &c, e);

    if (r < 0)
        return r;
    candidate_check(c, &ctx, j->seen.from, &j->aim.faults);
    check_default(candidate_model(c), &j->aim.faults);
    check_dynamic(candidate_model(c), dynamic, &j->aim.faults);
    if (j->seen.from && j->engine->seen_up && gethostname(host, sizeof(host) - 1) == 0)
        bound_check(j->seen.from, c, host, &j->aim.faults);
    problems_add(j, &j->aim.faults);
    r = faults_error(&j->aim.faults, e);
    if (r == 0)
        *ret = TAKE(c);
    return r;
}

void leaving_add(struct job *j, const char *name)
{
    size_t cap = j->aim.n_leaving;

    for (size_t i = 0; i < j->aim.n_leaving; i++)
        if (streq(j->aim.leaving[i], name))
            return;
    arena_reserve(&j->report.arena, &j->aim.leaving, &cap, j->aim.n_leaving + 1,
                  sizeof(*j->aim.leaving));
    j->aim.leaving[j->aim.n_leaving++] = arena_strdup(&j->report.arena, name);
}

/* Keep what `from` has and the declaration has not. */
static int keep_missing(struct job *j, const struct model *from, const struct model *declared,
                        struct err *e)
{
    for (size_t i = 0; i < from->n_objects; i++) {
        const struct model_object *o = &from->objects[i];
        AUTO(buf_done) struct buf lines = {0};
        int r;

        if (o->section != CONF_PARTITION || model_find(declared, CONF_PARTITION, o->name))
            continue;
        r = keep_declared(from, o, declared, false, &lines, e);
        if (r < 0)
            return r;
        record_keep(j->record, o->name, buf_str(&lines));
        leaving_add(j, o->name);
    }
    return 0;
}

static void keep_nothing(struct job *j)
{
    while (j->record->n_kept > 0)
        record_unkeep(j->record, j->record->kept[0].partition);
}

/* The files with what is kept and set aside; -EINVAL: they cannot hold it. */
static int effective_make(struct job *j, struct candidate **ret, struct err *e)
{
    const struct host_set *dynamic = hub_nodes(j->engine->o.hub, true);
    AUTO(faults_done) struct faults faults = {0};
    AUTO(candidate_free) struct candidate *c = NULL;
    struct validate_context ctx = {.release = j->seen.release, .dynamic_nodes = dynamic};
    int r = candidate_of(j->engine, j->record, j->seen.release, &c, e);

    if (r < 0)
        return r;
    candidate_check(c, &ctx, j->seen.from, &faults);
    if (faults_error(&faults, e) < 0)
        return -EINVAL;
    *ret = TAKE(c);
    return 0;
}

/* The candidate with what is kept; without it, if the new files cannot hold it. */
static int to_make(struct job *j, struct candidate *declared, struct err *e)
{
    AUTO(candidate_free) struct candidate *alone = declared;
    int r;

    j->aim.to = candidate_free(j->aim.to);
    if (j->record->n_kept == 0 && j->record->n_aside == 0) {
        j->aim.to = TAKE(alone);
        return 0;
    }
    r = effective_make(j, &j->aim.to, e);
    if (r != -EINVAL || j->record->n_kept == 0)
        return r;
    j->aim.delete_first = true;
    keep_nothing(j);
    if (j->record->n_aside > 0)
        return effective_make(j, &j->aim.to, e);
    j->aim.to = TAKE(alone);
    return 0;
}

/* Whoever declares inplaceReconfigure: false wants a slurmctld that reads its files at its start
 * alone. */
static bool is_done_by_start(const struct job *j)
{
    return j->record->restarts && j->aim.class == CHANGE_RECONFIGURE;
}

/* The heavier of what it takes from what runs, and from what may run because it was under way. */
static int cost_find(struct job *j, struct err *e)
{
    AUTO(candidate_free) struct candidate *half = NULL;
    AUTO(compare_done) struct comparison other = {0};
    const struct record *pending = store_pending(j->engine->o.store);
    int r = 0;

    j->aim.class = CHANGE_RECONFIGURE;
    if (j->seen.from) {
        r = compare_candidates(j->seen.from, j->aim.to, &j->aim.compared, e);
        j->aim.class = j->aim.compared.class;
    }
    if (r == 0 && pending && !streq(pending->hash, j->record->hash) &&
        candidate_of(j->engine, pending, j->seen.release, &half, NULL) == 0) {
        r = compare_candidates(half, j->aim.to, &other, e);
        j->aim.class = MAX(j->aim.class, other.class);
    }
    if (j->request->wants & (WANT_TELL_NODES | WANT_TRY_OUT))
        j->aim.class = MAX(j->aim.class, CHANGE_RECONFIGURE);
    if (request_wants(j->request, WANT_KEYS) || is_done_by_start(j))
        j->aim.class = CHANGE_RESTART;
    return r;
}

/* Keep what a record has and the declaration has not; one that cannot be read keeps nothing. */
static int keep_recorded(struct job *j, const struct record *r, const struct model *declared,
                         struct err *e)
{
    AUTO(candidate_free) struct candidate *c = NULL;

    if (!r || candidate_of(j->engine, r, j->seen.release, &c, NULL) < 0)
        return 0;
    return keep_missing(j, candidate_model(c), declared, e);
}

/*
 * What slurmctld may have and the declaration has not.  While something is under way nobody knows
 * from which files slurmctld was started last: from the last good ones, or from those under way.
 */
static int leaving_find(struct job *j, const struct model *declared, struct err *e)
{
    const struct record *pending = store_pending(j->engine->o.store);
    int r = 0;

    keep_nothing(j);
    if (pending) {
        j->aim.all = true; /* it may have got half-way */
        r = keep_recorded(j, store_good(j->engine->o.store), declared, e);
        if (r == 0)
            r = keep_recorded(j, pending, declared, e);
    }
    if (r == 0 && j->seen.from)
        r = keep_missing(j, candidate_model(j->seen.from), declared, e);
    return r;
}

/* Takes the candidate. */
static int aim_find(struct job *j, struct candidate *declared, struct err *e)
{
    AUTO(candidate_free) struct candidate *c = declared;
    int r = leaving_find(j, candidate_model(c), e);

    if (r < 0)
        return r;
    r = to_make(j, TAKE(c), e);
    return r < 0 ? r : cost_find(j, e);
}

int declared_of(struct job *j, struct candidate **ret, struct err *e)
{
    AUTO(faults_done) struct faults faults = {0};

    return candidate_new(&j->record->files, store_live(j->engine->o.store), j->seen.release,
                         &faults, ret, e);
}

int meaning_aim(struct job *j, struct err *e)
{
    struct candidate *declared = NULL;
    int r = declared_of(j, &declared, e);

    return r < 0 ? r : aim_find(j, declared, e);
}

int meaning_check(struct job *j, struct err *e)
{
    AUTO(candidate_free) struct candidate *declared = NULL;
    int r = check_declared(j, &declared, e);

    if (r < 0)
        return r;
    assert(declared);
    r = aside_carry(j, candidate_model(declared), e);
    return r < 0 ? r : aim_find(j, TAKE(declared), e);
}
