/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Having libslurm's parser read a candidate, in a process of its own.
 *
 * It gets a copy of the files; of a slurm.conf in which only partitions change, what is new.  Where
 * that is so plain that it is taken for certain (vouch.c), the parser is not asked.
 */
#include "src/agent/apply/engine_impl.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "src/agent/parse_text.h"
#include "src/agent/vouch.h"
#include "src/base/alloc.h"
#include "src/base/file.h"
#include "src/base/log.h"

#define PARSE_TIMEOUT_MS 15000

/* What the parser is shown of a file: of slurm.conf, what is new, where only partitions change. */
static struct str text_to_parse(const struct job *j, const struct fileset_file *f, struct buf *b)
{
    const struct fileset_file *old =
        j->seen.from ? fileset_get(&j->seen.from->files, f->name) : NULL;
    struct str text = {f->text, f->n};

    if (j->aim.class > CHANGE_RPC || !old || !streq(f->name, "slurm.conf"))
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
    for (size_t i = 0; r == 0 && i < j->aim.to->files.n; i++) {
        const struct fileset_file *f = &j->aim.to->files.files[i];
        AUTO(free) char *path = xasprintf("%s/%s", dir, f->name);
        AUTO(close) int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        AUTO(buf_done) struct buf b = {0};

        r = fd < 0 ? -errno : file_write_all(fd, text_to_parse(j, f, &b));
        if (r < 0)
            r = err_errno(e, -r, "cannot write '%s'", path);
    }
    return r;
}

/* Is there anything in it that the parser has not taken before, and might not take? */
static bool is_certain(const struct job *j)
{
    const struct fileset_file *a =
        j->seen.from ? fileset_get(&j->seen.from->files, "slurm.conf") : NULL;
    const struct fileset_file *b = fileset_get(&j->aim.to->files, "slurm.conf");

    if (!a)
        return false;
    if (a->n == b->n && memcmp(a->text, b->text, a->n) == 0)
        return true;
    return hub_release(j->engine->o.hub) != 0 &&
           vouch_text((struct str){b->text, b->n}, (struct str){a->text, a->n}, j->seen.release);
}

int parse_start(struct job *j, ask_fn fn, struct err *e)
{
    AUTO(arena_done) struct arena a = {0};
    static unsigned copies;
    struct jsn *request = jsn_object(&a);
    int r;

    j->aim.certain = is_certain(j);
    if (j->aim.certain)
        return 1;
    j->check.dir = xasprintf("%s/candidate-%u", store_dir(j->engine->o.store), copies++);
    r = scratch_make(j, j->check.dir, e);
    if (r < 0)
        return r;
    jsn_set_str(&a, request, "call", "parse");
    jsn_set_str(&a, request, "dir", j->check.dir);
    r = job_ask(j, LANE_PARSE, request, PARSE_TIMEOUT_MS, fn);
    return r < 0 ? err_set(e, r, ERR_RETRY, "the parser has too much to do") : 0;
}

void parse_end(struct job *j)
{
    AUTO(free) char *dir = TAKE(j->check.dir);
    struct err e = {0};

    if (dir && file_remove_tree(dir, &e) < 0)
        log_warn("%s", e.text);
}
