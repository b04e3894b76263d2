/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The controllers of the cluster.
 *
 * libslurm pings a controller by its number and tells nobody how many there are, at least not while
 * none of them is up.  So the file is read once more with our own parser.  A file that cannot be
 * read counts as one with a single controller, which is what most of them have.
 */
#include "src/agent/worker/controllers.h"

#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>

#include "src/base/alloc.h"
#include "src/base/file.h"
#include "src/slurm/model.h"

#define CONTROLLERS_MAX 16

static char *names[CONTROLLERS_MAX];
static size_t count;

/* Texts of included files, kept until all is parsed. */
struct texts {
    char *list[CONF_MAX_FILES];
    size_t n;
};

static void texts_done(struct texts *t)
{
    for (size_t i = 0; i < t->n; i++)
        free(t->list[i]);
}
DEFINE_AUTO_DONE(struct texts, texts_done);

static int include_read(void *ctx, const char *path, struct str *ret_text, struct err *e)
{
    struct texts *t = ctx;
    size_t n;
    int r;

    if (t->n == CONF_MAX_FILES)
        return err_bad(e, "too many files");
    r = file_read(path, CONF_MAX_BYTES, &t->list[t->n], &n, e);
    if (r < 0)
        return r;
    *ret_text = (struct str){t->list[t->n++], n};
    return 0;
}

/* "name(address)" is called name. */
static void controller_add(const char *host)
{
    struct str name = {host, str_find(str_of(host), '(')};

    if (count < CONTROLLERS_MAX)
        names[count++] = str_dup(name);
}

static void controllers_collect(const struct conf *conf)
{
    size_t n;
    const struct conf_line *lines = conf_lines(conf, &n);

    for (size_t i = 0; i < n; i++)
        if (lines[i].section == CONF_GLOBAL &&
            str_eq_nocase(str_of(lines[i].pairs[0].key), STR("SlurmctldHost")))
            controller_add(lines[i].pairs[0].value);
}

void controllers_read(const char *conf_path)
{
    AUTO(texts_done) struct texts texts = {0};
    AUTO(conf_free) struct conf *conf = NULL;
    AUTO(faults_done) struct faults faults = {0};
    struct conf_input in = {CONF_SLURM, conf_path, {0}, include_read, &texts};

    if (include_read(&texts, conf_path, &in.text, NULL) == 0 &&
        conf_parse(&in, &faults, &conf, NULL) == 0)
        controllers_collect(conf);
    if (count == 0)
        controller_add("slurmctld");
}

size_t controllers_count(void)
{
    return count;
}

const char *controllers_name(size_t i)
{
    return names[i];
}

int controllers_ping(size_t i)
{
    int r;

    errno = 0;
    r = slurm_ping((int)i);
    if (r == SLURM_SUCCESS)
        return 0;
    return errno ? errno : r;
}

bool controllers_all_down(void)
{
    for (size_t i = 0; i < count; i++) {
        int code = controllers_ping(i);

        if (code != SLURMCTLD_COMMUNICATIONS_CONNECTION_ERROR &&
            code != SLURM_COMMUNICATIONS_CONNECTION_ERROR)
            return false;
    }
    return count > 0;
}
