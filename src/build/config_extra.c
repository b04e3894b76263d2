/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * extraConf, held against Slurm while it is written.
 *
 * The file is made as for the cluster, with these lines in it, and read as the whole file is later
 * (config_check.c): one head, one way to find included files, one set of rules.  What is told is
 * what concerns the user's lines.  Lines of partitions are looked at one by one, without their
 * nodes: NodeSets may come after the Controller.
 */
#include "src/build/config_extra.h"

#include <strings.h>

#include "src/build/config_impl.h"
#include "src/slurm/validate.h"

/* The user's line that a fault is about; NULL: it is about none of them. */
static const struct conf_line *user_line(const struct conf_text *t, const struct conf *conf,
                                         const struct fault *f)
{
    size_t n;
    const struct conf_line *lines = conf_lines(conf, &n);

    for (size_t i = 0; i < n; i++)
        if (lines[i].line == f->line && streq(lines[i].file, f->file ? f->file : "slurm.conf") &&
            config_is_users_line(t, &lines[i]))
            return &lines[i];
    return NULL;
}

static void check_partition(struct config_work *w, const struct conf_text *t,
                            const struct conf_line *line)
{
    AUTO(buf_done) struct buf config = {0};
    struct fault f = {.level = FAULT_FATAL, .file = line->file, .line = line->line};
    struct err e = {0};

    if (strcasecmp(line->pairs[0].value, "DEFAULT") == 0)
        return;
    for (size_t i = 1; i < line->n; i++) {
        if (strcasecmp(line->pairs[i].key, "Nodes") == 0)
            continue;
        if (config.n)
            buf_addc(&config, ' ');
        conf_pair_print(line->pairs[i].key, line->pairs[i].value, &config);
    }
    if (validate_partition_config(arena_printf(w->a, "partition %s", line->pairs[0].value),
                                  buf_view(&config), build_release(w->c), &e) == 0)
        return;
    f.text = e.text;
    config_blame(w, t, &f);
}

static void check_meaning(struct config_work *w, const struct conf_text *t, const struct conf *conf)
{
    AUTO(faults_done) struct faults faults = {0};
    struct validate_context ctx = {.release = build_release(w->c), .is_part = true};
    size_t n;
    const struct conf_line *lines = conf_lines(conf, &n);

    validate_conf(conf, &ctx, &faults);
    for (size_t i = 0; i < faults.n; i++) {
        const struct fault *f = &faults.list[i];
        const struct conf_line *line = user_line(t, conf, f);

        /* What is wrong with a line of ours is so because of one of theirs. */
        if (line ? line->section != CONF_PARTITION : f->level == FAULT_FATAL)
            config_blame(w, t, f);
    }
    for (size_t i = 0; i < n; i++)
        if (lines[i].section == CONF_PARTITION && config_is_users_line(t, &lines[i]))
            check_partition(w, t, &lines[i]);
}

static void check_text(struct config_work *w, const struct conf_text *t, bool any_release)
{
    AUTO(faults_done) struct faults faults = {0};
    AUTO(conf_free) struct conf *conf = NULL;
    struct err e = {0};

    if (config_parse(w, t, &faults, &conf, &e) < 0) {
        api_problem_add(w->p, API_INVALID, "spec.extraConf", "%s", e.text);
        return;
    }
    config_check_user_lines(w, t, conf, &faults);
    for (size_t i = 0; i < faults.n; i++)
        config_blame(w, t, &faults.list[i]);
    if (!any_release)
        check_meaning(w, t, conf);
}

void build_check_extra(struct arena *a, const struct build_cluster *c, bool any_release,
                       struct api_problems *p)
{
    struct api_problems aside = {.arena = a}; /* of other fields: told elsewhere */
    struct config_work w = {.a = a, .c = c, .p = &aside};
    AUTO(conf_text_done) struct conf_text t = {.arena = a};
    const char *object = p->object;
    size_t before = p->n;

    if (!c->controller->spec.extra_conf || c->controller->spec.external)
        return;
    w.controller = api_full_name(a, &c->controller->meta); /* whose lines they are */
    user_files_read(a, c, &w.files, &aside);
    config_parse_extra(&w);
    config_settle_nodesets(&w);
    config_settle_partitions(&w);
    config_make_slurm_conf(&w, &t);
    w.p = p;
    check_text(&w, &t, any_release);
    p->object = object;
    for (size_t i = before; i < p->n; i++)
        p->items[i].object = object;
    map_done(&w.nodesets);
    conf_free(w.extra);
}
