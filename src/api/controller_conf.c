/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The extraConf of a Controller, held against a Slurm release.
 *
 * What a line says by itself is checked: keys that the release has, values that it takes, settings
 * that fit together.  Which nodes a partition names is not: their NodeSets may come later, and then
 * the whole file is checked where it is built.
 */
#include <strings.h>

#include "src/api/controller.h"
#include "src/slurm/validate.h"

/* The lines before the user's, so that nothing is missing. */
#define HEAD "ClusterName=x\nSlurmctldHost=x\nSelectType=select/cons_tres\nPartitionName=x\n"
#define HEAD_LINES 4

/* Included files are looked into with the whole file. */
static int no_file(void *ctx, const char *path, struct str *ret_text, struct err *e)
{
    (void)ctx;
    (void)path;
    (void)e;
    *ret_text = STR("");
    return 0;
}

static const struct conf_line *line_at(const struct conf *conf, unsigned number)
{
    size_t n;
    const struct conf_line *lines = conf_lines(conf, &n);

    for (size_t i = 0; i < n; i++)
        if (lines[i].line == number)
            return &lines[i];
    return NULL;
}

static void check_partition(const struct conf_line *line, uint32_t release, struct api_problems *p)
{
    AUTO(buf_done) struct buf config = {0};
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
    if (validate_partition_config(arena_printf(p->arena, "partition %s", line->pairs[0].value),
                                  buf_view(&config), release, &e) < 0)
        api_problem_add(p, API_INVALID, "spec.extraConf", "line %u: %s", line->line - HEAD_LINES,
                        e.text);
}

static void check_lines(const struct conf *conf, uint32_t release, struct faults *faults,
                        struct api_problems *p)
{
    struct validate_context ctx = {.release = release, .is_part = true};
    size_t parsed = faults->n;
    size_t n;
    const struct conf_line *lines = conf_lines(conf, &n);

    validate_conf(conf, &ctx, faults);
    for (size_t i = parsed; i < faults->n; i++) {
        const struct fault *f = &faults->list[i];
        const struct conf_line *line = line_at(conf, f->line);

        if (f->level == FAULT_WARNING && starts_with(f->text, "SelectType was set before"))
            continue; /* by us, above */
        if (f->line > HEAD_LINES && line && line->section != CONF_PARTITION)
            api_problem_add(p, f->level == FAULT_FATAL ? API_INVALID : API_WARNING,
                            "spec.extraConf", "line %u: %s", f->line - HEAD_LINES, f->text);
    }
    for (size_t i = 0; i < n; i++)
        if (lines[i].section == CONF_PARTITION && lines[i].line > HEAD_LINES)
            check_partition(&lines[i], release, p);
}

/* Settings that are not the user's. */
static void check_ours(const struct conf *conf, struct api_problems *p)
{
    size_t n;
    const struct conf_line *lines = conf_lines(conf, &n);

    for (size_t i = 0; i < n; i++) {
        const char *why =
            lines[i].line > HEAD_LINES && lines[i].section == CONF_GLOBAL
                ? controller_owned(p->arena, lines[i].pairs[0].key, lines[i].pairs[0].value)
                : NULL;

        if (why)
            api_problem_add(p, API_INVALID, "spec.extraConf", "line %u: %s",
                            lines[i].line - HEAD_LINES, why);
    }
}

void controller_check_conf(const struct controller *c, uint32_t release, struct api_problems *p)
{
    AUTO(faults_done) struct faults faults = {0};
    AUTO(conf_free) struct conf *conf = NULL;
    AUTO(buf_done) struct buf text = {0};
    struct conf_input in = {.kind = CONF_SLURM, .name = "extraConf", .lookup = no_file};
    struct err e = {0};

    if (!c->spec.extra_conf || c->spec.external)
        return;
    buf_adds(&text, HEAD);
    buf_adds(&text, c->spec.extra_conf);
    in.text = buf_view(&text);
    if (conf_parse(&in, &faults, &conf, &e) < 0) {
        api_problem_add(p, API_INVALID, "spec.extraConf", "%s", e.text);
        return;
    }
    for (size_t i = 0; i < faults.n; i++)
        if (faults.list[i].level == FAULT_FATAL)
            api_problem_add(p, API_INVALID, "spec.extraConf", "line %u: %s",
                            faults.list[i].line - HEAD_LINES, faults.list[i].text);
    check_ours(conf, p);
    if (release)
        check_lines(conf, release, &faults, p);
}
