/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files held against what Slurm takes.
 *
 * Faults come back with line numbers of files that nobody wrote; here they become problems of the
 * object and field that the line comes from.  A warning about a line that was made here is ours to
 * know and nobody else's; an error about one is told of the Controller.
 */
#include "src/build/config_impl.h"
#include "src/build/config_memo.h"
#include "src/slurm/validate.h"

/* Faults are capped, so that not all bad Partitions need to show at once; this many times is
 * enough for hundreds. */
#define ROUNDS_MAX 16

/* An included file: one of the user's, beside slurm.conf. */
static int find_include(void *ctx, const char *path, struct str *ret_text, struct err *e)
{
    const struct config_work *w = ctx;
    const char *slash = strrchr(path, '/');
    const struct user_file *f = user_files_find(&w->files, slash ? slash + 1 : path);

    if (!f && !w->c->lookup) { /* nobody can tell */
        *ret_text = STR("");
        return 0;
    }
    if (!f || f->option)
        return err_set(e, -ENOENT, ERR_PERMANENT, "no ConfigMap of configFileRefs has a key '%s'",
                       slash ? slash + 1 : path);
    *ret_text = f->text;
    return 0;
}

static void add_problem(struct config_work *w, const struct fault *f, const char *object,
                        const char *field, const char *place)
{
    enum api_reason reason = f->level == FAULT_FATAL ? API_INVALID : API_WARNING;

    w->p->object = object ? object : w->controller;
    if (place)
        api_problem_add(w->p, reason, field, "%s: %s", place, f->text);
    else
        api_problem_add(w->p, reason, field, "%s", f->text);
    w->p->object = w->controller;
}

/* That extraConf overrides what was made here is what it is for; what it says twice is odd. */
static bool is_override(const struct config_work *w, const struct fault *f)
{
    struct str key = {f->text, str_find(str_of(f->text), ' ')};
    size_t times = 0;
    size_t n = 0;
    const struct conf_line *lines = w->extra ? conf_lines(w->extra, &n) : NULL;

    if (f->level != FAULT_WARNING || !strstr(f->text, "was set before"))
        return false;
    for (size_t i = 0; i < n; i++)
        times +=
            lines[i].section == CONF_GLOBAL && str_eq_nocase(str_of(lines[i].pairs[0].key), key);
    return times < 2;
}

/* A fault of slurm.conf, or of a file that it includes. */
void config_blame(struct config_work *w, const struct conf_text *t, const struct fault *f)
{
    const struct conf_origin *o = f->line ? conf_text_find(t, f->line) : NULL;
    const struct user_file *included =
        f->file && !streq(f->file, "slurm.conf") ? user_files_find(&w->files, f->file) : NULL;
    const char *place = NULL;

    if (is_override(w, f))
        return;
    if (included) {
        add_problem(w, f, NULL, included->field,
                    arena_printf(w->a, "%s line %u", included->name, f->line));
        return;
    }
    if (o && o->counted)
        place = arena_printf(w->a, "line %u", f->line - o->line + 1);
    if (o && o->object)
        add_problem(w, f, o->object, o->field, place);
    else if (f->level == FAULT_FATAL)
        add_problem(w, f, NULL, "spec", NULL);
}

/* As validate_conf; what the last one has is not checked again.  A sound one takes its place. */
static void check_by_meaning(struct config_work *w, struct conf **conf, struct faults *faults)
{
    struct config_memo *memo = w->c->memo;
    AUTO(model_free) struct model *m = model_new(*conf, build_release(w->c));
    struct validate_context ctx = {.release = build_release(w->c),
                                   .known = memo ? config_memo_known(memo) : NULL};

    if (validate_model(m, &ctx, faults) && memo && faults->fatal == 0)
        config_memo_know(memo, TAKE(*conf), TAKE(m));
}

int config_parse(struct config_work *w, const struct conf_text *t, struct faults *faults,
                 struct conf **ret, struct err *e)
{
    struct conf_input in = {.kind = CONF_SLURM,
                            .name = "slurm.conf",
                            .text = buf_view(&t->text),
                            .lookup = find_include,
                            .ctx = w};

    return conf_parse(&in, faults, ret, e);
}

bool config_check_slurm_conf(struct config_work *w, const struct conf_text *t)
{
    AUTO(faults_done) struct faults faults = {0};
    AUTO(conf_free) struct conf *conf = NULL;
    struct err e = {0};

    if (config_parse(w, t, &faults, &conf, &e) < 0) {
        api_problem_add(w->p, API_INVALID, "spec.extraConf", "%s", e.text);
        w->unusable = true;
        return true;
    }
    config_check_user_lines(w, t, conf, &faults);
    check_by_meaning(w, &conf, &faults);
    if (faults.fatal && w->round < ROUNDS_MAX && config_refuse_partitions(w, t, &faults))
        return false;
    for (size_t i = 0; i < faults.n; i++)
        config_blame(w, t, &faults.list[i]);
    w->unusable = w->unusable || faults.fatal;
    return true;
}

/* A file that the release does not read would be silently without effect. */
static void check_file_release(struct config_work *w, const struct user_file *f)
{
    AUTO(buf_done) struct buf needs = {0};

    if (!streq(f->name, "topology.yaml") || build_has(w->c, PROFILE_TOPOLOGY_YAML))
        return;
    release_needs("topology.yaml", SERIES(25, 5), build_release(w->c), &needs);
    api_problem_add(w->p, API_FORBIDDEN, f->field, "%s; write topology.conf", buf_str(&needs));
    w->unusable = true;
}

static void check_user_file(struct config_work *w, const struct user_file *f)
{
    AUTO(faults_done) struct faults faults = {0};
    AUTO(conf_free) struct conf *conf = NULL;
    struct conf_input in = {.name = f->name, .text = f->text};
    struct validate_context ctx = {.release = build_release(w->c)};
    struct err e = {0};

    check_file_release(w, f);
    if (f->option || conf_kind_by_name(f->name, &in.kind) < 0 || in.kind == CONF_SLURM)
        return;
    if (conf_parse(&in, &faults, &conf, &e) < 0) {
        api_problem_add(w->p, API_INVALID, f->field, "%s: %s", f->name, e.text);
        w->unusable = true;
        return;
    }
    validate_conf(conf, &ctx, &faults);
    for (size_t i = 0; i < faults.n; i++)
        add_problem(w, &faults.list[i], NULL, f->field,
                    arena_printf(w->a, "%s line %u", f->name, faults.list[i].line));
    w->unusable = w->unusable || faults.fatal;
}

void config_check_files(struct config_work *w)
{
    for (size_t i = 0; i < w->files.n; i++)
        check_user_file(w, &w->files.items[i]);
}

void config_parse_extra(struct config_work *w)
{
    AUTO(faults_done) struct faults faults = {0};
    const char *text = w->c->controller->spec.extra_conf;
    struct conf_input in = {.kind = CONF_SLURM,
                            .name = "slurm.conf",
                            .text = str_of(text),
                            .lookup = find_include,
                            .ctx = w};
    struct err e = {0};

    /* What is wrong with it is reported once, with the whole file. */
    if (text && conf_parse(&in, &faults, &w->extra, &e) < 0) {
        api_problem_add(w->p, API_INVALID, "spec.extraConf", "%s", e.text);
        w->unusable = true;
    }
}
