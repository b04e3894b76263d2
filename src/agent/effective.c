/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files that slurmctld shall see, out of a record.
 *
 * They are the declared ones, with two exceptions.  A partition that leaves and still has jobs is
 * kept: its lines come first.  A partition that slurmctld refuses as declared is set aside: its
 * declared line becomes a comment, and what stood there before comes first.  Both come before any
 * PartitionName=DEFAULT of the declaration, and carry what they had inherited.
 *
 * A declared line is found in every file of the set, since slurm.conf may include others.  Slurm
 * wants PartitionName to be the first key of its line; a line goes on after a backslash.
 */
#include "src/agent/record.h"

#include "src/base/alloc.h"

#define ASIDE_MARK "# slurmctld refuses it: "

/* Each line once: two kept partitions may need the same NodeSet. */
static void lines_add(struct buf *out, const char *lines)
{
    struct str rest = str_of(lines);
    struct str line;

    while (str_split(&rest, '\n', &line)) {
        AUTO(free) char *whole = xasprintf("\n" STR_FMT "\n", STR_ARG(line));

        if (line.n == 0 || strstr(buf_str(out), whole))
            continue;
        buf_addstr(out, line);
        buf_addc(out, '\n');
    }
}

static bool word_take(struct str *at, const char *word)
{
    size_t n = strlen(word);

    if (at->n < n || !str_eq_nocase((struct str){at->p, n}, str_of(word)))
        return false;
    *at = str_trim((struct str){at->p + n, at->n - n});
    return true;
}

/* The name of the partition that the line declares; nothing if it is about something else. */
static struct str declared_name(struct str line)
{
    struct str at = str_trim(line);
    size_t n = 0;

    if (!word_take(&at, "PartitionName") || !word_take(&at, "="))
        return (struct str){0};
    (void)word_take(&at, "\"");
    while (n < at.n && !strchr(" \t\"\\", at.p[n]))
        n++;
    return (struct str){at.p, n};
}

static bool is_aside(const struct record *r, struct str name)
{
    for (size_t i = 0; i < r->n_aside; i++)
        if (str_eqz(name, r->aside[i].partition))
            return true;
    return false;
}

/* The text with the lines of what is set aside as comments.  Returns whether there were any. */
static bool comment_out(const struct record *r, struct str text, struct buf *out)
{
    bool inside = false; /* a line that the one before goes on in */
    bool away = false;
    bool any = false;
    struct str line;

    while (str_split(&text, '\n', &line)) {
        if (line.n == 0 && !text.p)
            break; /* after the last line break */
        if (!inside)
            away = is_aside(r, declared_name(line));
        any |= away;
        buf_printf(out, "%s" STR_FMT "\n", away ? ASIDE_MARK : "", STR_ARG(line));
        inside = line.n > 0 && line.p[line.n - 1] == '\\';
    }
    return any;
}

static int asides_away(const struct record *r, struct fileset *files, struct err *e)
{
    for (size_t i = 0; r->n_aside > 0 && i < r->files.n; i++) {
        const struct fileset_file *f = &r->files.files[i];
        AUTO(buf_done) struct buf text = {0};
        int ret = 0;

        if (str_ends(str_of(f->name), ".conf") &&
            comment_out(r, (struct str){f->text, f->n}, &text))
            ret = fileset_put(files, f->name, buf_view(&text), f->mode, e);
        if (ret < 0)
            return ret;
    }
    return 0;
}

static void asides_add(const struct record *r, struct buf *text)
{
    bool any = false;

    for (size_t i = 0; i < r->n_aside; i++)
        any |= r->aside[i].lines[0] != '\0';
    if (any)
        buf_adds(text, "# slurmctld refuses these as declared: they are as they were before.\n");
    for (size_t i = 0; i < r->n_aside; i++)
        lines_add(text, r->aside[i].lines);
}

int record_effective(const struct record *r, struct fileset *ret, struct err *e)
{
    AUTO(buf_done) struct buf text = {0};
    const struct fileset_file *conf;
    int code;

    fileset_copy(&r->files, ret);
    code = asides_away(r, ret, e);
    conf = fileset_get(ret, "slurm.conf");
    if (code < 0 || (r->n_kept == 0 && r->n_aside == 0) || !conf)
        return code;
    if (r->n_kept > 0)
        buf_adds(&text, "# Kept by slurmkeeper until the jobs of these partitions have ended.\n");
    for (size_t i = 0; i < r->n_kept; i++)
        lines_add(&text, r->kept[i].lines);
    asides_add(r, &text);
    buf_add(&text, conf->text, conf->n);
    return fileset_put(ret, "slurm.conf", buf_view(&text), conf->mode, e);
}
