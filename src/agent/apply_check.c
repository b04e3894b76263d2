/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checking a declaration, before anything is touched.
 *
 *   our model         every fault with file and line; unknown nodes, doubles, bad values
 *   what must stay    partitions that leave are kept in the files until slurmctld lets them go
 *   what it costs     compared by meaning with what runs
 *   libslurm's parser in a process of its own, at the same time as
 *   what is live      partitions, and jobs where they matter
 *
 * The last two are asynchronous and answer in any order; check_answered counts them.
 */
#include <fcntl.h>
#include <sys/stat.h>

#include "src/agent/bound.h"
#include "src/agent/engine_impl.h"
#include "src/agent/keep.h"
#include "src/agent/parse_text.h"
#include "src/base/alloc.h"
#include "src/base/clock.h"
#include "src/base/file.h"
#include "src/base/log.h"

#define PARSE_TIMEOUT_MS 15000
#define READ_TIMEOUT_MS 5000

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
        struct jsn *problem = jsn_object(&j->arena);

        if (f->level != FAULT_FATAL) {
            job_warn(j, "%s:%u: %s", f->file ? f->file : "slurm.conf", f->line, f->text);
            continue;
        }
        if (f->file) {
            jsn_set_str(&j->arena, problem, "file", f->file);
            jsn_set_int(&j->arena, problem, "line", f->line);
        }
        jsn_set_str(&j->arena, problem, "message", f->text);
        jsn_append(&j->arena, j->problems, problem);
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
        if (o->section != CONF_PARTITION || model_partition(m, o, &p, NULL) < 0 || !p.is_default)
            continue;
        if (first)
            faults_add(faults, FAULT_FATAL, o->line->file, o->line->line,
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
                faults_add(faults, FAULT_FATAL, o->line->file, o->line->line,
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
    AUTO(hostset_free) struct host_set *dynamic = hub_nodes(j->engine->o.hub, true);
    AUTO(candidate_free) struct candidate *c = NULL;
    struct validate_context ctx = {.release = j->release, .dynamic_nodes = dynamic};
    char host[256] = "";
    int r = candidate_new(&j->record->files, store_live(j->engine->o.store), j->release, &j->faults,
                          &c, e);

    if (r < 0)
        return r;
    candidate_check(c, &ctx, &j->faults);
    check_default(candidate_model(c), &j->faults);
    check_dynamic(candidate_model(c), dynamic, &j->faults);
    if (j->from && j->engine->seen_up && gethostname(host, sizeof(host) - 1) == 0)
        bound_check(j->from, c, host, &j->faults);
    problems_add(j, &j->faults);
    r = faults_error(&j->faults, e);
    if (r == 0)
        *ret = TAKE(c);
    return r;
}

static void leaving_add(struct job *j, const char *name)
{
    size_t cap = j->n_leaving;

    for (size_t i = 0; i < j->n_leaving; i++)
        if (streq(j->leaving[i], name))
            return;
    arena_reserve(&j->arena, &j->leaving, &cap, j->n_leaving + 1, sizeof(*j->leaving));
    j->leaving[j->n_leaving++] = arena_strdup(&j->arena, name);
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

/* The candidate with what is kept; without it, if the new files cannot hold it. */
static int to_make(struct job *j, struct candidate *declared, struct err *e)
{
    AUTO(hostset_free) struct host_set *dynamic = NULL;
    AUTO(faults_done) struct faults faults = {0};
    AUTO(candidate_free) struct candidate *c = NULL;
    AUTO(candidate_free) struct candidate *alone = declared;
    struct validate_context ctx = {.release = j->release};
    int r;

    j->to = candidate_free(j->to);
    if (j->record->n_kept == 0) {
        j->to = TAKE(alone);
        return 0;
    }
    dynamic = hub_nodes(j->engine->o.hub, true);
    ctx.dynamic_nodes = dynamic;
    r = candidate_of(j->engine, j->record, j->release, &c, e);
    if (r < 0)
        return r;
    candidate_check(c, &ctx, &faults);
    j->delete_first = faults_error(&faults, NULL) < 0;
    if (j->delete_first)
        keep_nothing(j);
    j->to = j->delete_first ? TAKE(alone) : TAKE(c);
    return 0;
}

/* The heavier of what it takes from what runs, and from what may run because it was under way. */
static int cost_find(struct job *j, struct err *e)
{
    AUTO(candidate_free) struct candidate *half = NULL;
    AUTO(compare_done) struct comparison other = {0};
    const struct record *pending = store_pending(j->engine->o.store);
    int r = 0;

    j->class = CHANGE_RECONFIGURE;
    if (j->from) {
        r = compare_candidates(j->from, j->to, &j->compared, e);
        j->class = j->compared.class;
    }
    if (r == 0 && pending && !streq(pending->hash, j->record->hash) &&
        candidate_of(j->engine, pending, j->release, &half, NULL) == 0) {
        r = compare_candidates(half, j->to, &other, e);
        j->class = MAX(j->class, other.class);
    }
    if (j->tell_nodes || j->try_out)
        j->class = MAX(j->class, CHANGE_RECONFIGURE);
    if (j->restart_for_keys)
        j->class = CHANGE_RESTART;
    return r;
}

/* Keep what a record has and the declaration has not; one that cannot be read keeps nothing. */
static int keep_recorded(struct job *j, const struct record *r, const struct model *declared,
                         struct err *e)
{
    AUTO(candidate_free) struct candidate *c = NULL;

    if (!r || candidate_of(j->engine, r, j->release, &c, NULL) < 0)
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
        j->reassert = true; /* it may have got half-way */
        r = keep_recorded(j, store_good(j->engine->o.store), declared, e);
        if (r == 0)
            r = keep_recorded(j, pending, declared, e);
    }
    if (r == 0 && j->from)
        r = keep_missing(j, candidate_model(j->from), declared, e);
    return r;
}

static int check_meaning(struct job *j, struct err *e)
{
    AUTO(candidate_free) struct candidate *declared = NULL;
    int r = check_declared(j, &declared, e);

    if (r < 0)
        return r;
    assert(declared);
    r = leaving_find(j, candidate_model(declared), e);
    if (r < 0)
        return r;
    r = to_make(j, TAKE(declared), e);
    return r < 0 ? r : cost_find(j, e);
}

/* What the parser is shown of a file: of slurm.conf, what is new, where only partitions change. */
static struct str text_to_parse(const struct job *j, const struct fileset_file *f, struct buf *b)
{
    const struct fileset_file *old = j->from ? fileset_get(&j->from->files, f->name) : NULL;
    struct str text = {f->text, f->n};

    if (j->class > CHANGE_RPC || !old || !streq(f->name, "slurm.conf"))
        return text;
    parse_text_new(text, (struct str){old->text, old->n}, b);
    return buf_view(b);
}

/* A copy for the parser: not synced, nobody needs it afterwards. */
static int scratch_make(const struct job *j, const char *dir, struct err *e)
{
    int r = file_remove_tree(dir, e);

    if (r == 0 && mkdir(dir, 0700) < 0)
        r = err_errno(e, errno, "cannot make '%s'", dir);
    for (size_t i = 0; r == 0 && i < j->to->files.n; i++) {
        const struct fileset_file *f = &j->to->files.files[i];
        AUTO(free) char *path = xasprintf("%s/%s", dir, f->name);
        AUTO(close) int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        AUTO(buf_done) struct buf b = {0};

        r = fd < 0 ? -errno : file_write_all(fd, text_to_parse(j, f, &b));
        if (r < 0)
            r = err_errno(e, -r, "cannot write '%s'", path);
    }
    return r;
}

struct check {
    struct job *job;
    void (*then)(struct job *j);
    char *dir; /* the parser's copy; NULL: none */
};

static void check_answered(struct check *c)
{
    struct job *j = c->job;
    void (*then)(struct job *) = c->then;
    struct err e = {0};

    if (--j->checks > 0)
        return;
    if (c->dir && file_remove_tree(c->dir, &e) < 0)
        log_warn("%s", e.text);
    free(c->dir);
    free(c);
    if (j->check_r < 0) {
        job_refuse(j, "parse", &j->check_e);
        return;
    }
    then(j);
}

/* The parser names files by where its copy lies. */
static struct jsn *problem_copy(struct arena *a, const struct jsn *problem)
{
    struct jsn *copy = jsn_clone(a, problem);
    const char *file = jsn_get_str(copy, "file");
    const char *slash = file ? strrchr(file, '/') : NULL;

    if (slash)
        jsn_set_str(a, copy, "file", slash + 1);
    return copy;
}

static void on_parsed(void *arg, int r, const struct jsn *answer, const struct err *e)
{
    struct check *c = arg;
    struct job *j = c->job;

    if (r < 0 && j->check_r == 0) {
        j->check_r = r;
        if (e)
            j->check_e = *e;
        JSN_FOR_ITEMS (problem, jsn_get(answer, "problems"))
            jsn_append(&j->arena, j->problems, problem_copy(&j->arena, problem));
    }
    check_answered(c);
}

static void on_live(void *arg, int r, const struct err *e)
{
    struct check *c = arg;

    if (r < 0) {
        c->job->live_known = false;
        c->job->why = e ? *e : (struct err){0};
    }
    check_answered(c);
}

static bool same_text(const struct job *j)
{
    const struct fileset_file *a = j->from ? fileset_get(&j->from->files, "slurm.conf") : NULL;
    const struct fileset_file *b = fileset_get(&j->to->files, "slurm.conf");

    return a && a->n == b->n && memcmp(a->text, b->text, a->n) == 0;
}

static int parse_start(struct check *c, struct err *e)
{
    struct job *j = c->job;
    AUTO(arena_done) struct arena a = {0};
    static unsigned copies;
    struct jsn *request = jsn_object(&a);
    int r;

    c->dir = xasprintf("%s/candidate-%u", store_dir(j->engine->o.store), copies++);
    r = scratch_make(j, c->dir, e);
    if (r < 0)
        return r;
    jsn_set_str(&a, request, "call", "parse");
    jsn_set_str(&a, request, "dir", c->dir);
    r = link_call(j->engine->o.link, LANE_PARSE, request, PARSE_TIMEOUT_MS, on_parsed, c);
    if (r < 0)
        return err_set(e, r, ERR_RETRY, "the parser has too much to do");
    j->checks++;
    return 0;
}

void check_start(struct job *j, void (*then)(struct job *j))
{
    struct check *c;
    struct err e = {0};
    bool with_jobs;
    bool with_live;
    int r;

    job_set_phase(j, APPLY_CHECKING);
    r = check_meaning(j, &e);
    job_step_note(j, "validate", NULL);
    if (r < 0) {
        job_refuse(j, "validate", &e);
        return;
    }
    c = xcalloc(1, sizeof(*c));
    *c = (struct check){.job = j, .then = then};
    j->checks = 1; /* held until all have been started */
    j->live_known = true;
    if (!same_text(j) && parse_start(c, &e) < 0) {
        j->check_r = e.num;
        j->check_e = e;
    }
    with_jobs = j->n_leaving > 0 || j->class >= CHANGE_RECONFIGURE;
    with_live = live_matters(j);
    j->checks += with_jobs + with_live;
    if (with_live)
        live_read(j, READ_TIMEOUT_MS, on_live, c);
    if (with_jobs)
        hub_refresh(j->engine->o.hub, HUB_JOBS, READ_TIMEOUT_MS, on_live, c);
    check_answered(c);
}
