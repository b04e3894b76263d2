/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A restored store in another place than it was made in: on another machine, or in another state
 * directory.
 *
 * No pod of the backup runs there, so none is kept as running: they are taken out, and their owners
 * make them again.  The embedded node names the directory of a claim in its PersistentVolume by the
 * full path; where the cluster has moved, these paths move along.  Rows are gathered first and
 * written afterwards: the store is not changed while it is read.
 */
#include "src/cli/restore_adapt.h"

#include "src/base/alloc.h"
#include "src/json/jsn.h"

struct found {
    struct arena arena;
    const struct restore_site *from;
    const struct restore_site *to;
    struct found_row {
        struct store_key key;
        uint32_t schema;
        struct jsn *object;
    } *rows;
    size_t n;
    size_t cap;
};

static void found_done(struct found *f)
{
    free(f->rows);
    arena_done(&f->arena);
}
DEFINE_AUTO_DONE(struct found, found_done);

static struct jsn *parse(struct arena *a, struct str data)
{
    struct jsn *o = NULL;

    return jsn_parse(a, (struct str){arena_str(a, data), data.n}, NULL, &o, NULL) < 0 ? NULL : o;
}

static void keep(struct found *f, const struct store_row *row, struct jsn *object)
{
    array_reserve(&f->rows, &f->cap, f->n + 1, sizeof(*f->rows));
    f->rows[f->n++] = (struct found_row){
        .key = {arena_strdup(&f->arena, row->key.resource), arena_strdup(&f->arena, row->key.ns),
                arena_strdup(&f->arena, row->key.name)},
        .schema = row->schema,
        .object = object,
    };
}

static bool find_foreign(void *arg, const struct store_row *row)
{
    struct found *f = arg;
    struct jsn *o = parse(&f->arena, row->data);
    bool node = streq(row->key.resource, "nodes");
    const char *host = node ? row->key.name : jsn_get_str(o, "spec.nodeName");
    bool moved = !node && !streq(f->from->state, f->to->state);

    if (o && host && (moved || !streq(host, f->to->host)))
        keep(f, row, o);
    return true;
}

/* Those whose directory is one of the old state directory's claims. */
static bool find_volume(void *arg, const struct store_row *row)
{
    struct found *f = arg;
    struct jsn *o = parse(&f->arena, row->data);
    const char *path = jsn_get_str(o, "spec.hostPath.path");
    const char *claims = arena_printf(&f->arena, "%s/node/claims/", f->from->state);

    if (!path || !starts_with(path, claims))
        return true;
    jsn_set_path(&f->arena, o, "spec.hostPath.path",
                 jsn_stringf(&f->arena, "%s%s", f->to->state, path + strlen(f->from->state)));
    keep(f, row, o);
    return true;
}

static int gather(struct store *s, const char *resource, store_row_fn fn, struct found *f,
                  struct err *e)
{
    return store_each(s, &(struct store_list){.resource = resource}, fn, f, e);
}

static struct str text_of(struct store *s, struct found *f, const struct found_row *row)
{
    AUTO(buf_done) struct buf b = {0};

    jsn_set_path(&f->arena, row->object, "metadata.resourceVersion",
                 jsn_stringf(&f->arena, "%lld", (long long)store_next_version(s)));
    jsn_print(&b, row->object);
    return (struct str){arena_strdup(&f->arena, buf_str(&b)), b.n};
}

int restore_adapt(struct store *s, const struct restore_site *from, const struct restore_site *to,
                  size_t *ret_dropped, size_t *ret_moved, struct err *e)
{
    AUTO(found_done) struct found foreign = {.from = from, .to = to};
    AUTO(found_done) struct found volumes = {.from = from, .to = to};
    int r = gather(s, "pods", find_foreign, &foreign, e);

    if (r == 0)
        r = gather(s, "nodes", find_foreign, &foreign, e);
    if (r == 0 && !streq(from->state, to->state))
        r = gather(s, "persistentvolumes", find_volume, &volumes, e);
    for (size_t i = 0; r == 0 && i < foreign.n; i++)
        r = store_delete(s, &foreign.rows[i].key, text_of(s, &foreign, &foreign.rows[i]), e);
    for (size_t i = 0; r == 0 && i < volumes.n; i++)
        r = store_put(s, &volumes.rows[i].key, volumes.rows[i].schema,
                      text_of(s, &volumes, &volumes.rows[i]), NULL, e);
    if (r == 0)
        r = store_commit(s, e);
    *ret_dropped = foreign.n;
    *ret_moved = volumes.n;
    return r;
}
