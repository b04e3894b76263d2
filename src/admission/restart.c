/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Changes for which slurmctld is started again.
 *
 * Most changes reach slurmctld by a call or a reconfigure; a few keys (SelectType, AuthType, ...)
 * are read at its start alone.  Jobs go on running, but nothing is scheduled for a moment, and who
 * applies such a change should know.  Only what the author wrote is looked at: what follows from it
 * elsewhere shows in `slurmkeeper plan`.
 */
#include "src/admission/restart.h"

#include <string.h>

#include "src/slurm/classify.h"

/* Above what the author wrote, so that the model is whole. */
#define HEAD "ClusterName=x\nSlurmctldHost=x\n"
/* What the generated file has where the author says nothing, of the keys that need a restart. */
#define SELECT_TYPE "SelectType=select/cons_tres\n"
#define MAX_WARNINGS 5

/* Included files are looked into with the whole file. */
static int no_file(void *ctx, const char *path, struct str *ret_text, struct err *e)
{
    (void)ctx;
    (void)path;
    (void)e;
    *ret_text = STR("");
    return 0;
}

static struct conf *parse(const char *text)
{
    AUTO(faults_done) struct faults faults = {0};
    AUTO(buf_done) struct buf b = {0};
    struct conf_input in = {.kind = CONF_SLURM, .name = "slurm.conf", .lookup = no_file};
    struct conf *conf = NULL;
    struct err e = {0};

    buf_printf(&b, HEAD "%s%s\n", text && strcasestr(text, "SelectType=") ? "" : SELECT_TYPE,
               text ? text : "");
    in.text = buf_view(&b);
    return conf_parse(&in, &faults, &conf, &e) == 0 ? conf : NULL;
}

static void warn(struct api_problems *p, const char *field, const struct conf_change *change)
{
    AUTO(buf_done) struct buf b = {0};

    diff_print(change, &b);
    api_problem_add(p, API_WARNING, field, "slurmctld is restarted for this (jobs go on): %s",
                    buf_str(&b));
}

void restart_warn(struct api_problems *p, const char *field, const char *old, const char *now,
                  uint32_t release)
{
    AUTO(conf_free) struct conf *from = parse(old);
    AUTO(conf_free) struct conf *to = parse(now);
    AUTO(model_free) struct model *a = NULL;
    AUTO(model_free) struct model *b = NULL;
    AUTO(diff_done) struct conf_diff diff = {0};
    struct err e = {0};
    size_t n = 0;

    if (!release)
        release = RELEASE_NEWEST;
    if (!from || !to || streq(old, now))
        return;
    a = model_new(from, release);
    b = model_new(to, release);
    if (diff_models(a, b, &diff, &e) < 0)
        return;
    for (size_t i = 0; i < diff.n && n < MAX_WARNINGS; i++) {
        if (classify_change(&diff.list[i], CONF_SLURM, release).class != CHANGE_RESTART)
            continue;
        warn(p, field, &diff.list[i]);
        n++;
    }
}
