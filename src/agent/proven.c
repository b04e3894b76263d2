/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What slurmctld last served with.
 *
 * The live files go with the pod.  A new pod finds what is mounted, and nobody has tried that: the
 * one edit that changes the pod as well (a new configFileRefs entry) would start slurmctld from
 * files that it may die of, and a partition that is only kept for its jobs would be missing, and
 * the jobs with it.  So what slurmctld has been seen to serve with lies beside its state, and a new
 * pod starts from there.  What is mounted is then a declaration like any other.
 *
 * One file, written beside its place, synced and renamed: a line of JSON (release, known hashes),
 * then a record.  Several pods may share the volume; each writes by a name of its own.
 */
#include "src/agent/proven.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "src/agent/store_impl.h"
#include "src/base/alloc.h"
#include "src/base/file.h"
#include "src/base/log.h"
#include "src/slurm/profile.h"

#define PROVEN_MAX_BYTES (FILESET_MAX_BYTES + ((size_t)8 << 20))

static void head_print(const struct store *s, uint32_t release, struct buf *out)
{
    AUTO(arena_done) struct arena a = {0};
    struct jsn *head = jsn_object(&a);
    struct jsn *known = jsn_array(&a);
    char series[RELEASE_TEXT_LEN];

    release_series_text(release, series);
    jsn_set_str(&a, head, "series", series);
    for (size_t i = 0; i < s->n_history; i++)
        jsn_append(&a, known, jsn_string(&a, s->history[i]));
    jsn_set(&a, head, "known", known);
    jsn_print(out, head);
    buf_addc(out, '\n');
}

int proven_save(const char *dir, const struct store *s, uint32_t release, struct err *e)
{
    AUTO(free) char *path = xasprintf("%s/proven", dir);
    AUTO(free) char *tmp = NULL;
    AUTO(buf_done) struct buf text = {0};
    char host[65] = "";
    int r;

    if (!s->good)
        return err_set(e, -ENOENT, ERR_PERMANENT, "nothing is good yet");
    if (mkdir(dir, 0700) < 0 && errno != EEXIST)
        return err_errno(e, errno, "cannot make '%s'", dir);
    (void)gethostname(host, sizeof(host) - 1);
    tmp = xasprintf("%s.new-%s", path, host);
    head_print(s, release, &text);
    record_print(s->good, &text);
    r = store_write_new(tmp, buf_view(&text), 0600, true, e);
    if (r < 0)
        return r;
    if (rename(tmp, path) < 0)
        return err_errno(e, errno, "cannot put '%s' in place", path);
    return 0;
}

static int head_parse(struct arena *a, struct str *text, struct jsn **ret, struct err *e)
{
    size_t line = str_find(*text, '\n');
    int r;

    if (line == text->n)
        return err_set(e, -EBADMSG, ERR_PERMANENT, "it has no end of its head");
    r = jsn_parse(a, (struct str){text->p, line}, NULL, ret, e);
    *text = (struct str){text->p + line + 1, text->n - line - 1};
    return r;
}

static int take(struct store *s, const struct jsn *head, struct record *record, struct err *e)
{
    AUTO(record_free) struct record *mine = record;
    AUTO(fileset_done) struct fileset files = {0};
    size_t changed = 0;
    int r;

    JSN_FOR_ITEMS (hash, jsn_key(head, "known"))
        if (jsn_text(hash) && strlen(jsn_text(hash)) == SHA256_HEX_LEN)
            store_remember(s, jsn_text(hash));
    mine->attempts = 0;
    r = record_effective(mine, &files, e);
    if (r == 0)
        r = store_pend(s, mine, e);
    if (r < 0)
        return r;
    (void)TAKE(mine);
    r = store_write(s, &files, &changed, e);
    return r < 0 ? r : store_commit(s, e);
}

int proven_restore(const char *dir, struct store *s, uint32_t release, struct err *e)
{
    AUTO(arena_done) struct arena a = {0};
    AUTO(free) char *path = xasprintf("%s/proven", dir);
    AUTO(free) char *text = NULL;
    struct record *record = NULL;
    struct jsn *head = NULL;
    char series[RELEASE_TEXT_LEN] = "";
    struct str rest;
    size_t n = 0;
    int r;

    if (!file_exists(path))
        return 0;
    r = file_read(path, PROVEN_MAX_BYTES, &text, &n, e);
    rest = (struct str){text, n};
    if (r == 0)
        r = head_parse(&a, &rest, &head, e);
    if (r == 0)
        r = record_parse(rest, &record, e);
    if (r < 0) {
        log_warn("'%s' cannot be used: %s", path, e->text);
        return 0;
    }
    if (release)
        release_series_text(release, series);
    if (!streq(jsn_get_str(head, "series"), series)) {
        log_info("'%s' is of Slurm %s, this is %s: not used", path, jsn_get_str(head, "series"),
                 release ? series : "not known");
        (void)record_free(record);
        return 0;
    }
    r = take(s, head, record, e);
    return r < 0 ? r : 1;
}
