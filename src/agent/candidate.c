/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Candidates: what a set of files means.
 *
 * slurm.conf, cgroup.conf, gres.conf and topology.conf are parsed into models and compared by
 * meaning; every other file (scripts, plugstack.conf, topology.yaml) counts as changed when its
 * bytes or its mode do.  What a difference costs comes from src/slurm's tables.
 */
#include "src/agent/candidate.h"

#include "src/base/alloc.h"
#include "src/base/file.h"

static const char *const file_names[CONF_N_KINDS] = {
    [CONF_SLURM] = "slurm.conf",
    [CONF_CGROUP] = "cgroup.conf",
    [CONF_GRES] = "gres.conf",
    [CONF_TOPOLOGY] = "topology.conf",
};

struct lookup {
    const struct fileset *files;
    const char *live;
    struct fileset *outside; /* what was read from disk, by a made-up name */
};

static int lookup_outside(struct lookup *l, const char *path, struct str *ret, struct err *e)
{
    AUTO(free) char *name = xasprintf("outside-%zu", l->outside->n);
    AUTO(free) char *text = NULL;
    size_t n = 0;
    int r = file_read(path, CONF_MAX_BYTES, &text, &n, e);

    if (r == 0)
        r = fileset_put(l->outside, name, (struct str){text, n}, FILESET_MODE, e);
    if (r < 0)
        return r;
    /* the text of a file stays where it is when others are put */
    *ret = (struct str){fileset_get(l->outside, name)->text, n};
    return 0;
}

static int lookup_file(void *ctx, const char *path, struct str *ret_text, struct err *e)
{
    struct lookup *l = ctx;
    const struct fileset_file *f;
    size_t n = strlen(l->live);
    const char *name = path;

    if (starts_with(path, l->live) && path[n] == '/')
        name = path + n + 1;
    f = fileset_get(l->files, name);
    if (f) {
        *ret_text = (struct str){f->text, f->n};
        return 0;
    }
    if (name == path && path[0] == '/')
        return lookup_outside(l, path, ret_text, e);
    return err_set(e, -ENOENT, ERR_PERMANENT, "'%s' is not among the configuration files", name);
}

static int parse_one(struct candidate *c, enum conf_kind kind, struct lookup *lookup,
                     struct faults *faults, struct err *e)
{
    const struct fileset_file *f = fileset_get(&c->files, file_names[kind]);
    struct conf_input in = {
        .kind = kind, .name = file_names[kind], .lookup = lookup_file, .ctx = lookup};
    int r;

    if (!f && kind == CONF_SLURM)
        return err_bad(e, "there is no slurm.conf among the files");
    if (!f)
        return 0;
    in.text = (struct str){f->text, f->n};
    r = conf_parse(&in, faults, &c->conf[kind], e);
    if (r == 0)
        c->model[kind] = model_new(c->conf[kind], c->release);
    return r;
}

int candidate_new(const struct fileset *files, const char *live, uint32_t release,
                  struct faults *faults, struct candidate **ret, struct err *e)
{
    AUTO(candidate_free) struct candidate *c = xcalloc(1, sizeof(*c));
    AUTO(fileset_done) struct fileset outside = {0};
    struct lookup lookup = {.files = &c->files, .live = live, .outside = &outside};

    c->release = release;
    fileset_copy(files, &c->files);
    for (unsigned kind = 0; kind < CONF_N_KINDS; kind++) {
        int r = parse_one(c, (enum conf_kind)kind, &lookup, faults, e);

        if (r < 0)
            return r;
    }
    *ret = TAKE(c);
    return 0;
}

struct candidate *candidate_free(struct candidate *c)
{
    if (!c)
        return NULL;
    for (unsigned kind = 0; kind < CONF_N_KINDS; kind++) {
        (void)model_free(c->model[kind]);
        (void)conf_free(c->conf[kind]);
    }
    fileset_done(&c->files);
    free(c);
    return NULL;
}

void candidate_check(struct candidate *c, const struct validate_context *ctx,
                     const struct candidate *known, struct faults *faults)
{
    struct validate_context after = *ctx;

    after.known = known && known->sound ? candidate_model(known) : NULL;
    for (unsigned kind = 0; kind < CONF_N_KINDS; kind++)
        if (c->model[kind]) {
            bool sound = validate_model(c->model[kind], &after, faults);

            c->sound = kind == CONF_SLURM ? sound : c->sound;
        }
}

void compare_done(struct comparison *c)
{
    diff_done(&c->slurm);
    free(c->list);
    arena_done(&c->arena);
    *c = (struct comparison){0};
}

static void compare_add(struct comparison *c, struct verdict v, const char *name, const char *text)
{
    array_reserve(&c->list, &c->cap, c->n + 1, sizeof(*c->list));
    c->list[c->n++] = (struct compare_change){.name = arena_strdup(&c->arena, name),
                                              .text = arena_strdup(&c->arena, text),
                                              .class = v.class,
                                              .why = v.why};
    c->class = MAX(c->class, v.class);
}

static void compare_diff(struct comparison *c, const struct conf_diff *diff, enum conf_kind kind,
                         uint32_t release)
{
    for (size_t i = 0; i < diff->n; i++) {
        const struct conf_change *x = &diff->list[i];
        const char *name = x->key_name ? x->key_name : x->object;
        AUTO(buf_done) struct buf text = {0};

        if (kind != CONF_SLURM)
            buf_printf(&text, "%s: ", file_names[kind]);
        diff_print(x, &text);
        compare_add(c, classify_change(x, kind, release), name ? name : file_names[kind],
                    buf_str(&text));
    }
}

/* A file as a whole: it came, went, or has other bytes. */
static void compare_bytes(struct comparison *c, const struct fileset *from,
                          const struct fileset *to, const char *name, uint32_t release)
{
    const struct fileset_file *a = fileset_get(from, name);
    const struct fileset_file *b = fileset_get(to, name);
    AUTO(free) char *text = xasprintf("%s: %s", name, !a ? "added" : !b ? "removed" : "changed");

    if (fileset_file_same(a, b))
        return;
    compare_add(c, classify_file(name, release), name, text);
}

static int compare_kind(struct comparison *c, const struct candidate *from,
                        const struct candidate *to, enum conf_kind kind, struct err *e)
{
    AUTO(diff_done) struct conf_diff diff = {0};
    int r;

    if (!from->model[kind] || !to->model[kind]) {
        if (from->model[kind] || to->model[kind])
            compare_bytes(c, &from->files, &to->files, file_names[kind], to->release);
        return 0;
    }
    r = diff_models(from->model[kind], to->model[kind], &diff, e);
    if (r < 0)
        return r;
    compare_diff(c, &diff, kind, to->release);
    if (kind == CONF_SLURM) {
        c->slurm = diff;
        diff = (struct conf_diff){0};
    }
    return 0;
}

/* A file that slurm.conf includes is compared with it, line by line. */
static bool is_included(const struct candidate *c, const char *name)
{
    size_t n;
    const struct conf_line *lines =
        c->conf[CONF_SLURM] ? conf_lines(c->conf[CONF_SLURM], &n) : NULL;

    for (size_t i = 0; lines && i < n; i++) {
        const char *slash = strrchr(lines[i].file, '/');

        if (streq(slash ? slash + 1 : lines[i].file, name))
            return true;
    }
    return false;
}

static bool has_model(const struct candidate *from, const struct candidate *to, const char *name)
{
    enum conf_kind kind;

    return conf_kind_by_name(name, &kind) == 0 || is_included(from, name) || is_included(to, name);
}

int compare_candidates(const struct candidate *from, const struct candidate *to,
                       struct comparison *ret, struct err *e)
{
    for (unsigned kind = 0; kind < CONF_N_KINDS; kind++) {
        int r = compare_kind(ret, from, to, (enum conf_kind)kind, e);

        if (r < 0)
            return r;
    }
    for (size_t i = 0; i < to->files.n; i++)
        if (!has_model(from, to, to->files.files[i].name))
            compare_bytes(ret, &from->files, &to->files, to->files.files[i].name, to->release);
    for (size_t i = 0; i < from->files.n; i++)
        if (!fileset_get(&to->files, from->files.files[i].name) &&
            !has_model(from, to, from->files.files[i].name))
            compare_bytes(ret, &from->files, &to->files, from->files.files[i].name, to->release);
    return 0;
}
