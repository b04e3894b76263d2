/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two sets of configuration files, compared by meaning.
 *
 * For clusters whose agent cannot be asked: what was written last stands for what runs.  A setting
 * that somebody changed by scontrol does not show here.
 */
#include "src/cli/plan.h"
#include "src/slurm/classify.h"

static int no_file(void *ctx, const char *path, struct str *ret_text, struct err *e)
{
    const struct jsn *files = ctx;
    const char *slash = strrchr(path, '/');
    const struct jsn *file = jsn_member(files, str_of(slash ? slash + 1 : path));

    (void)e;
    *ret_text = file ? file->s : STR("");
    return 0;
}

static struct conf *parse(enum conf_kind kind, const char *name, const struct jsn *files)
{
    AUTO(faults_done) struct faults faults = {0};
    const struct jsn *file = jsn_member(files, str_of(name));
    struct conf_input in = {.kind = kind,
                            .name = name,
                            .text = file ? file->s : STR(""),
                            .lookup = no_file,
                            .ctx = (void *)(uintptr_t)files};
    struct conf *conf = NULL;
    struct err e = {0};

    return conf_parse(&in, &faults, &conf, &e) == 0 ? conf : NULL;
}

static void add_file(struct arena *a, struct plan_cluster *c, const char *name, const char *what)
{
    struct verdict v = classify_file(name, c->release);

    plan_change_add(a, c, v.class, arena_printf(a, "%s: %s", name, what), v.why);
}

/* Returns false if the file has no model: then its text counts. */
static bool diff_file(struct arena *a, struct plan_cluster *c, const char *name,
                      const struct jsn *from, const struct jsn *to)
{
    AUTO(conf_free) struct conf *old = NULL;
    AUTO(conf_free) struct conf *now = NULL;
    AUTO(model_free) struct model *x = NULL;
    AUTO(model_free) struct model *y = NULL;
    AUTO(diff_done) struct conf_diff diff = {0};
    enum conf_kind kind;
    struct err e = {0};

    if (conf_kind_by_name(name, &kind) < 0)
        return false;
    old = parse(kind, name, from);
    now = parse(kind, name, to);
    if (!old || !now)
        return false;
    x = model_new(old, c->release);
    y = model_new(now, c->release);
    if (diff_models(x, y, &diff, &e) < 0)
        return false;
    for (size_t i = 0; i < diff.n; i++) {
        struct verdict v = classify_change(&diff.list[i], kind, c->release);
        AUTO(buf_done) struct buf text = {0};

        if (kind != CONF_SLURM)
            buf_printf(&text, "%s: ", name);
        diff_print(&diff.list[i], &text);
        plan_change_add(a, c, v.class, buf_str(&text), v.why);
    }
    return true;
}

void plan_diff_files(struct arena *a, const struct jsn *from, const struct jsn *to,
                     struct plan_cluster *c)
{
    JSN_FOR_MEMBERS (m, to) {
        const struct jsn *old = jsn_member(from, m->key);
        const char *name = arena_str(a, m->key);

        if (old && str_eq(old->s, m->value->s))
            continue;
        if (!diff_file(a, c, name, from, to))
            add_file(a, c, name, old ? "changed" : "added");
    }
    JSN_FOR_MEMBERS (m, from)
        if (!jsn_member(to, m->key))
            add_file(a, c, arena_str(a, m->key), "removed");
}
