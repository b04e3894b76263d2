/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records of declarations.
 *
 * On disk a record is one file, so that it is there as a whole or not at all:
 *
 *     {"hash":...,"generation":...,"files":[{"name":...,"mode":...,"bytes":...}],"kept":[...]}\n
 *     the contents of the files, one after the other
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
    record_take_back_all(r);
    free(r->aside);
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
    copy->aside = NULL;
    copy->n_aside = copy->cap_aside = 0;
    for (size_t i = 0; i < r->n_aside; i++)
        record_set_aside(copy, r->aside[i].partition, r->aside[i].lines, r->aside[i].asked,
                         r->aside[i].why);
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

static void aside_done(struct record_aside *x)
{
    free(x->partition);
    free(x->lines);
    free(x->asked);
    free(x->why);
}

void record_set_aside(struct record *r, const char *partition, const char *lines, const char *asked,
                      const char *why)
{
    struct record_aside copy = {.partition = xstrdup(partition),
                                .lines = xstrdup(lines),
                                .asked = xstrdup(asked),
                                .why = xstrdup(why)};

    record_take_back(r, copy.partition);
    array_reserve(&r->aside, &r->cap_aside, r->n_aside + 1, sizeof(*r->aside));
    r->aside[r->n_aside++] = copy;
}

void record_take_back(struct record *r, const char *partition)
{
    for (size_t i = 0; i < r->n_aside; i++) {
        if (!streq(r->aside[i].partition, partition))
            continue;
        aside_done(&r->aside[i]);
        memmove(&r->aside[i], &r->aside[i + 1], (r->n_aside - i - 1) * sizeof(*r->aside));
        r->n_aside--;
        return;
    }
}

void record_take_back_all(struct record *r)
{
    while (r->n_aside > 0)
        aside_done(&r->aside[--r->n_aside]);
}

const struct record_aside *record_aside_find(const struct record *r, const char *partition)
{
    for (size_t i = 0; r && i < r->n_aside; i++)
        if (streq(r->aside[i].partition, partition))
            return &r->aside[i];
    return NULL;
}

static struct jsn *kept_encode(struct arena *a, const struct record *r)
{
    struct jsn *kept = jsn_array(a);

    for (size_t i = 0; i < r->n_kept; i++) {
        struct jsn *k = jsn_object(a);

        jsn_set_str(a, k, "partition", r->kept[i].partition);
        jsn_set_str(a, k, "lines", r->kept[i].lines);
        jsn_append(a, kept, k);
    }
    return kept;
}

static struct jsn *aside_encode(struct arena *a, const struct record *r)
{
    struct jsn *aside = jsn_array(a);

    for (size_t i = 0; i < r->n_aside; i++) {
        struct jsn *x = jsn_object(a);

        jsn_set_str(a, x, "partition", r->aside[i].partition);
        jsn_set_str(a, x, "lines", r->aside[i].lines);
        jsn_set_str(a, x, "asked", r->aside[i].asked);
        jsn_set_str(a, x, "why", r->aside[i].why);
        jsn_append(a, aside, x);
    }
    return aside;
}

void record_print(const struct record *r, struct buf *out)
{
    AUTO(arena_done) struct arena a = {0};
    struct jsn *head = jsn_object(&a);
    struct jsn *files = jsn_array(&a);

    for (size_t i = 0; i < r->files.n; i++) {
        struct jsn *f = jsn_object(&a);

        jsn_set_str(&a, f, "name", r->files.files[i].name);
        jsn_set_int(&a, f, "mode", r->files.files[i].mode);
        jsn_set_int(&a, f, "bytes", (int64_t)r->files.files[i].n);
        jsn_append(&a, files, f);
    }
    jsn_set_str(&a, head, "hash", r->hash);
    jsn_set_int(&a, head, "generation", r->generation);
    if (r->declared)
        jsn_set_str(&a, head, "declared", r->declared);
    jsn_set_bool(&a, head, "revert", r->revert);
    jsn_set_bool(&a, head, "restarts", r->restarts);
    jsn_set_int(&a, head, "attempts", r->attempts);
    jsn_set_int(&a, head, "written", r->written_us);
    jsn_set(&a, head, "files", files);
    jsn_set(&a, head, "kept", kept_encode(&a, r));
    if (r->n_aside > 0)
        jsn_set(&a, head, "aside", aside_encode(&a, r));
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

static void aside_decode(const struct jsn *v, struct record *r)
{
    const char *partition = jsn_get_str(v, "partition");
    const char *lines = jsn_get_str(v, "lines");
    const char *asked = jsn_get_str(v, "asked");
    const char *why = jsn_get_str(v, "why");

    if (partition && lines && asked && why)
        record_set_aside(r, partition, lines, asked, why);
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
    r->restarts = jsn_get_bool(head, "restarts", false);
    r->attempts = (unsigned)jsn_get_int(head, "attempts", 0);
    r->written_us = jsn_get_int(head, "written", 0);
    JSN_FOR_ITEMS (k, jsn_key(head, "kept")) {
        const char *partition = jsn_get_str(k, "partition");
        const char *lines = jsn_get_str(k, "lines");

        if (partition && lines)
            record_keep(r, partition, lines);
    }
    JSN_FOR_ITEMS (x, jsn_key(head, "aside"))
        aside_decode(x, r);
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
