/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurm.conf and what it includes, from disk.
 *
 * libslurm tells little of what it has read, and waits a minute for an include that is not there.
 * So the few things that the child must know for itself are read with our own parser.
 */
#include "src/agent/worker/conf_files.h"

#include "src/base/alloc.h"
#include "src/base/file.h"

static int text_read(void *ctx, const char *path, struct str *ret_text, struct err *e)
{
    struct conf_files *f = ctx;
    struct err why = {0};
    size_t n;
    int r;

    if (f->n == CONF_MAX_FILES)
        return err_bad(e, "there are more than %d files", CONF_MAX_FILES);
    r = file_read(path, CONF_MAX_BYTES, &f->texts[f->n], &n, &why);
    if (r < 0) {
        if (!f->missing)
            f->missing = xstrdup(why.text);
        return err_set(e, r, why.class, "%s", why.text);
    }
    *ret_text = (struct str){f->texts[f->n++], n};
    return 0;
}

int conffiles_read(const char *path, struct conf_files *ret, struct err *e)
{
    struct conf_input in = {CONF_SLURM, path, {0}, text_read, ret};
    int r;

    *ret = (struct conf_files){0};
    r = text_read(ret, path, &in.text, e);
    if (r == 0)
        r = conf_parse(&in, &ret->faults, &ret->conf, e);
    if (r < 0)
        conffiles_done(ret);
    return r;
}

void conffiles_done(struct conf_files *f)
{
    conf_free(f->conf);
    faults_done(&f->faults);
    for (size_t i = 0; i < f->n; i++)
        free(f->texts[i]);
    free(f->missing);
    *f = (struct conf_files){0};
}
