/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Embedded resources (x-kubernetes-embedded-resource): whole objects inside a custom object.
 *
 * They must say what they are (apiVersion, kind), and their metadata has the types and the rules of
 * any object's metadata; a name is not asked for.  One walk finds them by the schema; what is done
 * with each is a function.
 */
#include "src/cluster/apiserver/crd/custom.h"
#include "src/json/names.h"
#include "src/json/structural.h"

struct search {
    struct buf path;
    /* Returns negative to stop. */
    int (*found)(struct search *s, struct jsn *object);
    struct arena *arena;
    const struct schema *object_meta;
    struct err *e;
    struct causes *causes;
};

static int walk(struct search *w, const struct schema *s, struct jsn *v, bool root);

static void pop(struct search *w, size_t before)
{
    w->path.n = before;
    if (w->path.p)
        w->path.p[before] = '\0';
}

static int walk_members(struct search *w, const struct schema *s, struct jsn *v, bool root)
{
    int r = 0;

    JSN_FOR_MEMBERS (m, v) {
        const struct schema_property *p = schema_property(s, m->key);
        size_t before = w->path.n;

        if (r < 0 || (root && str_eqz(m->key, "metadata")))
            continue;
        if (p && before)
            buf_addc(&w->path, '.');
        buf_printf(&w->path, p ? STR_FMT : "[" STR_FMT "]", STR_ARG(m->key));
        r = walk(w, p ? p->schema : s->additional, m->value, false);
        pop(w, before);
    }
    return r;
}

static int walk(struct search *w, const struct schema *s, struct jsn *v, bool root)
{
    int r = 0;

    if (!s || s->codec != SCHEMA_PLAIN)
        return 0;
    if (jsn_is(v, JSN_OBJECT) && s->embedded_resource && !root)
        r = w->found(w, v);
    if (r == 0)
        r = walk_members(w, s, v, root);
    for (size_t i = 0; r == 0 && s->items && jsn_is(v, JSN_ARRAY) && i < jsn_len(v); i++) {
        size_t before = w->path.n;

        buf_printf(&w->path, "[%zu]", i);
        r = walk(w, s->items, jsn_item(v, i), false);
        pop(w, before);
    }
    return r;
}

static int check_text(struct search *w, const struct jsn *object, const char *key)
{
    AUTO(buf_done) struct buf b = {0};
    const struct jsn *v = jsn_key(object, key);

    if (!v || v->type == JSN_STRING)
        return 0;
    schema_print_go(&b, v);
    return err_bad(w->e, "%s.%s: Invalid value: %s: must be a string", buf_str(&w->path), key,
                   buf_str(&b));
}

static int check_types(struct search *w, struct jsn *object)
{
    struct jsn *meta = jsn_key(object, "metadata");
    AUTO(buf_done) struct buf b = {0};
    int r = check_text(w, object, "apiVersion");

    if (r == 0)
        r = check_text(w, object, "kind");
    if (r < 0 || !meta || !w->object_meta)
        return r;
    schema_print_go(&b, meta);
    r = type_check(w->arena, w->object_meta, meta, NULL, w->e);
    return r < 0
               ? err_wrap(w->e, r, "%s.metadata: Invalid value: %s", buf_str(&w->path), buf_str(&b))
               : 0;
}

int embedded_check_types(struct arena *a, const struct schema *s, struct jsn *object,
                         const struct schema *object_meta, struct err *e)
{
    struct search w = {.found = check_types, .arena = a, .object_meta = object_meta, .e = e};
    int r = walk(&w, s, object, true);

    buf_done(&w.path);
    return r;
}

static const char *field(struct search *w, const char *key)
{
    return cause_path(w->causes, "%s.%s", buf_str(&w->path), key);
}

static void validate_api_version(struct search *w, const struct jsn *object)
{
    const struct jsn *v = jsn_key(object, "apiVersion");
    const char *text = jsn_text(v);

    if (!v)
        cause_required(w->causes, field(w, "apiVersion"), NULL);
    else if (!text)
        cause_invalid(w->causes, field(w, "apiVersion"), v, "must be a string");
    else if (!*text)
        cause_invalid(w->causes, field(w, "apiVersion"), v, "must not be empty");
    else if (strchr(text, '/') != strrchr(text, '/'))
        cause_invalid(w->causes, field(w, "apiVersion"), v, "unexpected GroupVersion string: %s",
                      text);
}

static void validate_kind(struct search *w, const struct jsn *object)
{
    const struct jsn *v = jsn_key(object, "kind");
    const char *text = jsn_text(v);
    struct name_faults f;
    char *lower;

    if (!v) {
        cause_required(w->causes, field(w, "kind"), NULL);
        return;
    }
    if (!text || !*text) {
        cause_invalid(w->causes, field(w, "kind"), v,
                      text ? "must not be empty" : "must be a string");
        return;
    }
    lower = arena_strdup(w->causes->arena, text);
    for (char *c = lower; *c; c++)
        if (*c >= 'A' && *c <= 'Z')
            *c = (char)(*c - 'A' + 'a');
    f = names_check(FORM_DNS1035_LABEL, str_of(lower));
    if (f.n > 0)
        cause_invalid(w->causes, field(w, "kind"), v,
                      "may have mixed case, but should otherwise match: %s%s%s", f.text[0],
                      f.n > 1 ? "," : "", f.n > 1 ? f.text[1] : "");
}

/* metadata by the rules of every object, its name being optional. */
static void validate_meta(struct search *w, const struct jsn *object)
{
    struct arena *a = w->causes->arena;
    struct causes inner = {.arena = a};
    struct jsn *meta = jsn_key(object, "metadata");
    struct jsn *o;
    const char *ns = jsn_get_str(meta, "namespace");

    if (!jsn_is(meta, JSN_OBJECT))
        return;
    o = jsn_object(a);
    meta = jsn_clone(a, meta);
    jsn_set(a, o, "metadata", meta);
    if (!jsn_get_str(meta, "name") || !*jsn_get_str(meta, "name"))
        jsn_set_str(a, meta, "name", "fakename");
    validate_metadata(&inner, o, NAME_PATH_SEGMENT, ns && *ns);
    for (size_t i = 0; i < inner.n; i++)
        cause_add(w->causes, inner.items[i].reason, field(w, inner.items[i].field), "%s",
                  inner.items[i].text);
}

static int validate(struct search *w, struct jsn *object)
{
    validate_api_version(w, object);
    validate_kind(w, object);
    validate_meta(w, object);
    return 0;
}

void embedded_validate(struct causes *cs, const struct schema *s, const struct jsn *object)
{
    struct search w = {.found = validate, .causes = cs};

    /* Nothing is changed on this walk. */
    (void)walk(&w, s, (struct jsn *)(uintptr_t)object, true);
    buf_done(&w.path);
}
