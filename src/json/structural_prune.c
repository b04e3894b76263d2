/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pruning: what a schema does not know goes, and is named on request.
 *
 * Where there is no schema for a value (below
 * additionalProperties: true, say) objects lose all their members and lists are searched for
 * objects: that is how kube-apiserver does it.  A node that preserves unknown fields keeps what it
 * does not know and still prunes inside what it does.  Embedded resources keep apiVersion, kind and
 * metadata; the metadata is held against ObjectMeta.
 */
#include "src/json/structural.h"

struct walk {
    const struct structural *how;
    struct schema_unknown *unknown; /* NULL: do not list */
    struct buf path;
};

/* An object and its schema on the way down. */
struct level {
    struct walk *w;
    const struct schema *s; /* NULL: none */
    bool preserve;          /* unknown members stay */
    bool root;              /* a whole resource */
};

/* What a member of an object is to the object's schema. */
struct verdict {
    bool drop;
    bool leave; /* not looked into */
    const struct schema *schema;
};

static void prune(struct walk *w, struct jsn *v, const struct schema *s, bool preserve);

static void note(struct walk *w, struct str key)
{
    struct schema_unknown *u = w->unknown;

    if (!u)
        return;
    arena_reserve(u->arena, &u->paths, &u->cap, u->n + 1, sizeof(*u->paths));
    u->paths[u->n++] = arena_printf(u->arena, "%s%s" STR_FMT, buf_str(&w->path),
                                    w->path.n ? "." : "", STR_ARG(key));
}

static size_t push_key(struct walk *w, struct str key)
{
    size_t before = w->path.n;

    if (w->unknown) {
        if (w->path.n)
            buf_addc(&w->path, '.');
        buf_addstr(&w->path, key);
    }
    return before;
}

static void pop(struct walk *w, size_t before)
{
    if (w->path.n == before)
        return;
    w->path.n = before;
    w->path.p[before] = '\0';
}

static bool is_meta(struct str key)
{
    return str_eqz(key, "apiVersion") || str_eqz(key, "kind") || str_eqz(key, "metadata");
}

/* additionalProperties: false, which keeps members so that validation can refuse them. */
static bool is_closed(const struct schema *s)
{
    const struct jsn *extra = jsn_key(s->source, "additionalProperties");

    return jsn_is(extra, JSN_BOOL) && !extra->b;
}

static struct verdict judge(const struct level *l, struct str key)
{
    const struct schema *s = l->s, *meta = l->w->how->object_meta;
    const struct schema_property *p;

    if (!s)
        return (struct verdict){.drop = true};
    if (l->root && is_meta(key))
        return (struct verdict){.leave = true};
    if (s->embedded_resource && is_meta(key))
        return (struct verdict){.leave = !meta || !str_eqz(key, "metadata"), .schema = meta};
    p = schema_property(s, key);
    if (p)
        return (struct verdict){.schema = p->schema};
    if (s->additional || is_closed(s))
        return (struct verdict){.schema = s->additional};
    return (struct verdict){.drop = !l->preserve, .leave = l->preserve};
}

/* Go's omitempty has no hold on this one: a time that was never set comes back as null. */
static void drop_null_creation(struct jsn *meta)
{
    const struct jsn *t = jsn_key(meta, "creationTimestamp");

    if (jsn_is(t, JSN_NULL))
        (void)jsn_del(meta, "creationTimestamp");
}

static bool keep_member(const struct jsn_member *m, const void *context)
{
    const struct level *l = context;
    struct verdict d = judge(l, m->key);
    size_t before;

    if (d.drop) {
        note(l->w, m->key);
        return false;
    }
    if (d.leave)
        return true;
    before = push_key(l->w, m->key);
    prune(l->w, m->value, d.schema, d.schema && d.schema->preserve_unknown);
    if (l->s->embedded_resource && str_eqz(m->key, "metadata"))
        drop_null_creation(m->value);
    pop(l->w, before);
    return true;
}

/* Items of a list that preserves do so, too. */
static void prune_array(struct walk *w, struct jsn *v, const struct schema *items, bool preserve)
{
    for (size_t i = 0; i < jsn_len(v); i++) {
        size_t before = w->path.n;

        if (w->unknown)
            buf_printf(&w->path, "[%zu]", i);
        prune(w, jsn_item(v, i), items, preserve || (items && items->preserve_unknown));
        pop(w, before);
    }
}

/* The inside of these values is nobody's business. */
static bool is_opaque(const struct schema *s)
{
    return s && (s->codec == SCHEMA_RAW || s->codec == SCHEMA_JSON || s->codec == SCHEMA_FIELDS_V1);
}

static void prune(struct walk *w, struct jsn *v, const struct schema *s, bool preserve)
{
    if (is_opaque(s) || (preserve && !s))
        return;
    if (jsn_is(v, JSN_OBJECT))
        jsn_keep_members(v, keep_member, &(struct level){.w = w, .s = s, .preserve = preserve});
    else if (jsn_is(v, JSN_ARRAY))
        prune_array(w, v, s ? s->items : NULL, preserve);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void prune_root(struct walk *w, struct jsn *object, const struct schema *s)
{
    const struct schema_property *meta = schema_property(s, STR("metadata"));
    struct level l = {.w = w, .s = s, .preserve = s->preserve_unknown, .root = true};
    size_t n_meta;

    if (meta && meta->schema) {
        (void)push_key(w, STR("metadata"));
        prune(w, jsn_key(object, "metadata"), meta->schema, false);
        pop(w, 0);
    }
    n_meta = w->unknown ? w->unknown->n : 0;
    if (jsn_is(object, JSN_OBJECT))
        jsn_keep_members(object, keep_member, &l);
    if (w->unknown && w->unknown->n > n_meta)
        qsort(w->unknown->paths + n_meta, w->unknown->n - n_meta, sizeof(*w->unknown->paths),
              by_text);
}

void schema_prune(const struct structural *how, struct jsn *object, const struct schema *s,
                  struct schema_unknown *unknown)
{
    struct walk w = {.how = how, .unknown = unknown};

    prune_root(&w, object, s);
    buf_done(&w.path);
}

void schema_prune_value(const struct structural *how, struct jsn *v, const struct schema *s)
{
    struct walk w = {.how = how};

    prune(&w, v, s, s && s->preserve_unknown);
    buf_done(&w.path);
}
