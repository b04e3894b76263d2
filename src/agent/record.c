/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records of declarations.
 *
 * On disk a record is one file, so that it is there as a whole or not at all:
 *
 *     {"hash":...,"generation":...,"files":[{"name":...,"mode":...,"bytes":...}],"kept":[...]}\n
 *     the contents of the files, one behind the other
 *
 * Contents are bytes and not JSON: scripts need not be UTF-8.  The hash is that of the files, and a
 * record whose files do not have it (half-written, edited by hand) is not believed.
 */
#include "src/agent/record.h"

#include "src/base/alloc.h"

struct record *record_new(void)
{
    return xcalloc(1, sizeof(struct record));
}

static void kept_done(struct record_kept *k)
{
    free(k->partition);
    free(k->lines);
}

struct record *record_free(struct record *r)
{
    if (!r)
        return NULL;
    fileset_done(&r->files);
    free(r->declared);
    for (size_t i = 0; i < r->n_kept; i++)
        kept_done(&r->kept[i]);
    free(r->kept);
    free(r);
    return NULL;
}

struct record *record_copy(const struct record *r)
{
    struct record *copy = record_new();

    *copy = *r;
    fileset_copy(&r->files, &copy->files);
    copy->declared = xstrdup_null(r->declared);
    copy->kept = NULL;
    copy->n_kept = copy->cap_kept = 0;
    for (size_t i = 0; i < r->n_kept; i++)
        record_keep(copy, r->kept[i].partition, r->kept[i].lines);
    return copy;
}

void record_keep(struct record *r, const char *partition, const char *lines)
{
    record_unkeep(r, partition);
    array_reserve(&r->kept, &r->cap_kept, r->n_kept + 1, sizeof(*r->kept));
    r->kept[r->n_kept++] =
        (struct record_kept){.partition = xstrdup(partition), .lines = xstrdup(lines)};
}

void record_unkeep(struct record *r, const char *partition)
{
    for (size_t i = 0; i < r->n_kept; i++) {
        if (!streq(r->kept[i].partition, partition))
            continue;
        kept_done(&r->kept[i]);
        memmove(&r->kept[i], &r->kept[i + 1], (r->n_kept - i - 1) * sizeof(*r->kept));
        r->n_kept--;
        return;
    }
}

const struct record_kept *record_kept_find(const struct record *r, const char *partition)
{
    for (size_t i = 0; i < r->n_kept; i++)
        if (streq(r->kept[i].partition, partition))
            return &r->kept[i];
    return NULL;
}

/* Each line once: two kept partitions may need the same NodeSet. */
static void kept_lines_add(struct buf *out, const char *lines)
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

int record_effective(const struct record *r, struct fileset *ret, struct err *e)
{
    AUTO(buf_done) struct buf text = {0};
    const struct fileset_file *conf;

    fileset_copy(&r->files, ret);
    conf = fileset_get(ret, "slurm.conf");
    if (r->n_kept == 0 || !conf)
        return 0;
    buf_adds(&text, "# Kept by slurmkeeper until the jobs of these partitions have ended.\n");
    for (size_t i = 0; i < r->n_kept; i++)
        kept_lines_add(&text, r->kept[i].lines);
    buf_add(&text, conf->text, conf->n);
    return fileset_put(ret, "slurm.conf", buf_view(&text), conf->mode, e);
}

void record_print(const struct record *r, struct buf *out)
{
    AUTO(arena_done) struct arena a = {0};
    struct jsn *head = jsn_object(&a);
    struct jsn *files = jsn_array(&a);
    struct jsn *kept = jsn_array(&a);

    for (size_t i = 0; i < r->files.n; i++) {
        struct jsn *f = jsn_object(&a);

        jsn_set_str(&a, f, "name", r->files.files[i].name);
        jsn_set_int(&a, f, "mode", r->files.files[i].mode);
        jsn_set_int(&a, f, "bytes", (int64_t)r->files.files[i].n);
        jsn_append(&a, files, f);
    }
    for (size_t i = 0; i < r->n_kept; i++) {
        struct jsn *k = jsn_object(&a);

        jsn_set_str(&a, k, "partition", r->kept[i].partition);
        jsn_set_str(&a, k, "lines", r->kept[i].lines);
        jsn_append(&a, kept, k);
    }
    jsn_set_str(&a, head, "hash", r->hash);
    jsn_set_int(&a, head, "generation", r->generation);
    if (r->declared)
        jsn_set_str(&a, head, "declared", r->declared);
    jsn_set_bool(&a, head, "revert", r->revert);
    jsn_set_int(&a, head, "attempts", r->attempts);
    jsn_set_int(&a, head, "written", r->written_us);
    jsn_set(&a, head, "files", files);
    jsn_set(&a, head, "kept", kept);
    jsn_print(out, head);
    buf_addc(out, '\n');
    for (size_t i = 0; i < r->files.n; i++)
        buf_add(out, r->files.files[i].text, r->files.files[i].n);
}

static int files_parse(const struct jsn *list, struct str rest, struct record *r, struct err *e)
{
    char hash[SHA256_HEX_LEN + 1];

    JSN_FOR_ITEMS (f, list) {
        const char *name = jsn_get_str(f, "name");
        int64_t n = jsn_get_int(f, "bytes", -1);
        int ret;

        if (!name || n < 0 || (uint64_t)n > rest.n)
            return err_set(e, -EBADMSG, ERR_PERMANENT, "the record ends too early");
        ret = fileset_put(&r->files, name, (struct str){rest.p, (size_t)n},
                          (mode_t)jsn_get_int(f, "mode", FILESET_MODE) & 07777, e);
        if (ret < 0)
            return ret;
        rest.p += n;
        rest.n -= (size_t)n;
    }
    fileset_hash(&r->files, hash);
    if (rest.n > 0 || !streq(hash, r->hash))
        return err_set(e, -EBADMSG, ERR_PERMANENT, "the record's files do not have its hash");
    return 0;
}

static int head_parse(const struct jsn *head, struct record *r, struct err *e)
{
    const char *hash = jsn_get_str(head, "hash");

    if (!hash || strlen(hash) != SHA256_HEX_LEN)
        return err_set(e, -EBADMSG, ERR_PERMANENT, "the record has no hash");
    memcpy(r->hash, hash, sizeof(r->hash));
    r->generation = jsn_get_int(head, "generation", 0);
    r->declared = xstrdup_null(jsn_get_str(head, "declared"));
    r->revert = jsn_get_bool(head, "revert", false);
    r->attempts = (unsigned)jsn_get_int(head, "attempts", 0);
    r->written_us = jsn_get_int(head, "written", 0);
    JSN_FOR_ITEMS (k, jsn_key(head, "kept")) {
        const char *partition = jsn_get_str(k, "partition");
        const char *lines = jsn_get_str(k, "lines");

        if (partition && lines)
            record_keep(r, partition, lines);
    }
    return 0;
}

int record_parse(struct str text, struct record **ret, struct err *e)
{
    AUTO(arena_done) struct arena a = {0};
    AUTO(record_free) struct record *record = record_new();
    size_t line = str_find(text, '\n');
    struct jsn *head = NULL;
    struct str rest;
    int r;

    if (line == text.n)
        return err_set(e, -EBADMSG, ERR_PERMANENT, "the record has no end of its head");
    rest = (struct str){text.p + line + 1, text.n - line - 1};
    r = jsn_parse(&a, (struct str){text.p, line}, NULL, &head, e);
    if (r == 0)
        r = head_parse(head, record, e);
    if (r == 0)
        r = files_parse(jsn_key(head, "files"), rest, record, e);
    if (r < 0)
        return r;
    *ret = TAKE(record);
    return 0;
}
