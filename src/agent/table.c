/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tables with versions.
 *
 * slurmctld only tells whole lists.  Each row is kept as the text that watchers get; a row whose
 * text is the same as before has not changed, whatever slurmctld thinks.  A row that is gone leaves
 * a tombstone; when there are too many, the oldest are forgotten, and a caller that asks for a
 * delta from before that gets everything.
 */
#include "src/agent/table.h"

#include "src/base/alloc.h"

struct row {
    char *text;
    size_t n;
    uint64_t version;
    uint64_t round;
};

static void row_free(void *p)
{
    struct row *row = p;

    free(row->text);
    free(row);
}

void table_init(struct table *t)
{
    *t = (struct table){0};
    map_init(&t->rows, row_free);
}

void table_done(struct table *t)
{
    map_done(&t->rows);
    for (size_t i = 0; i < t->n_gone; i++)
        free(t->gone[i].name);
    free(t->gone);
    *t = (struct table){0};
}

void table_begin(struct table *t)
{
    t->round++;
}

bool table_put(struct table *t, struct str name, struct str text, uint64_t version)
{
    struct row *row = map_get(&t->rows, name);

    if (row && row->n == text.n && memcmp(row->text, text.p, text.n) == 0) {
        row->round = t->round;
        return false;
    }
    if (!row) {
        row = xcalloc(1, sizeof(*row));
        (void)map_put(&t->rows, name, row);
    }
    free(row->text);
    row->text = str_dup(text);
    row->n = text.n;
    row->version = version;
    row->round = t->round;
    return true;
}

static void bury(struct table *t, struct str name, uint64_t version)
{
    if (t->n_gone == TABLE_TOMBSTONES) {
        size_t half = TABLE_TOMBSTONES / 2;

        t->forgotten = t->gone[half - 1].version;
        for (size_t i = 0; i < half; i++)
            free(t->gone[i].name);
        memmove(t->gone, t->gone + half, half * sizeof(*t->gone));
        t->n_gone = half;
    }
    array_reserve(&t->gone, &t->cap_gone, t->n_gone + 1, sizeof(*t->gone));
    t->gone[t->n_gone++] = (struct table_tombstone){.name = str_dup(name), .version = version};
}

bool table_end(struct table *t, uint64_t version)
{
    bool changed = false;
    struct row *row;
    struct str name;
    size_t at = 0;

    while (map_next(&t->rows, &at, &name, &row)) {
        if (row->round == t->round)
            continue;
        bury(t, name, version);
        (void)map_del(&t->rows, name);
        changed = true;
    }
    return changed;
}

bool table_has_since(const struct table *t, uint64_t since)
{
    return since >= t->forgotten;
}

void table_print(const struct table *t, const char *key, uint64_t since, struct buf *out)
{
    const struct row *row;
    size_t at = 0;
    bool first = true;

    buf_printf(out, "\"%s\":[", key);
    while (map_next(&t->rows, &at, NULL, &row)) {
        if (row->version <= since)
            continue;
        buf_adds(out, first ? "" : ",");
        buf_add(out, row->text, row->n);
        first = false;
    }
    buf_addc(out, ']');
}

void table_print_gone(const struct table *t, const char *key, uint64_t since, struct buf *out)
{
    bool first = true;

    buf_printf(out, "\"%s\":[", key);
    for (size_t i = 0; i < t->n_gone; i++) {
        const struct table_tombstone *gone = &t->gone[i];

        /* it may have come back since */
        if (gone->version <= since || map_get(&t->rows, str_of(gone->name)))
            continue;
        buf_adds(out, first ? "" : ",");
        jsn_print_string(out, str_of(gone->name));
        first = false;
    }
    buf_addc(out, ']');
}
