/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Is a value a configuration that can be applied?
 *
 * The whole value is walked, also inside of what is owned as a whole; every fault is told with its
 * path, as one sentence or as a list.  null is fine everywhere: it stands for the empty value.  The
 * texts, odd as some are, are those that kube-apiserver answers with.
 */
#include "src/json/apply.h"
#include "src/json/apply_type.h"
#include "src/json/patch_list.h"

#define MAX_FAULTS 8

struct checker {
    struct arena *a;
    struct buf faults;
    size_t n;
};

static void fault(struct checker *c, const struct fieldset_path *path, const char *what)
{
    if (c->n++ >= MAX_FAULTS)
        return;
    buf_adds(&c->faults, "\n  ");
    fieldset_path_print(&c->faults, path);
    buf_printf(&c->faults, "%s%s", path ? ": " : "", what);
}

static void wrong_type(struct checker *c, const struct fieldset_path *path, const char *expected,
                       const struct jsn *v)
{
    AUTO(buf_done) struct buf b = {0};

    buf_printf(&b, "expected %s, got &{", expected);
    patch_print_go(&b, v);
    buf_addc(&b, '}');
    fault(c, path, arena_printf(c->a, "%.200s", buf_str(&b)));
}

static void check_number(struct checker *c, const struct fieldset_path *path, const struct jsn *v)
{
    static const char *const go_types[] = {[JSN_BOOL] = "bool",
                                           [JSN_STRING] = "string",
                                           [JSN_ARRAY] = "[]interface {}",
                                           [JSN_OBJECT] = "map[string]interface {}"};

    if (v->type != JSN_INT && v->type != JSN_REAL)
        fault(c, path,
              arena_printf(c->a, "expected numeric (int or float), got %s", go_types[v->type]));
}

static void check_string(struct checker *c, const struct schema *s,
                         const struct fieldset_path *path, const struct jsn *v)
{
    AUTO(buf_done) struct buf b = {0};

    if (v->type == JSN_STRING || (s->format && !streq(s->format, "byte")))
        return;
    buf_adds(&b, "expected string, got &value.valueUnstructured{Value:");
    patch_print_go(&b, v);
    buf_addc(&b, '}');
    fault(c, path, arena_printf(c->a, "%.200s", buf_str(&b)));
}

static void check_value(struct checker *c, struct apply_type t, const struct fieldset_path *path,
                        const struct jsn *v);

static void check_object(struct checker *c, struct apply_type t, const struct fieldset_path *path,
                         const struct jsn *v)
{
    if (v->type != JSN_OBJECT) {
        wrong_type(c, path, "map", v);
        return;
    }
    JSN_FOR_MEMBERS (m, v) {
        struct fieldset_path here = {path, {.kind = FIELDSET_FIELD, .field = m->key}};

        if (!apply_member_allowed(t, m->key)) {
            fault(c, &here, "field not declared in schema");
            return;
        }
        check_value(c, apply_member_type(t, m->key, NULL), &here, m->value);
    }
}

static void check_items(struct checker *c, struct apply_type t, const struct fieldset_path *path,
                        const struct jsn *v)
{
    struct apply_items items;
    struct err e = {0};

    if (apply_items(c->a, t, v, &items, &e) < 0) {
        fault(c, path, arena_strdup(c->a, e.text));
        return;
    }
    for (size_t i = 0; i < items.n; i++) {
        struct fieldset_path here = {path, items.items[i].element};
        AUTO(buf_done) struct buf b = {0};

        if (items.items[i].first != i) {
            buf_adds(&b, "duplicate entries for key ");
            fieldset_element_print(&b, &here.element);
            fault(c, path, arena_printf(c->a, "%.200s", buf_str(&b)));
        }
        check_value(c, apply_item_type(t), &here, items.items[i].value);
    }
}

static void check_list(struct checker *c, struct apply_type t, const struct fieldset_path *path,
                       const struct jsn *v)
{
    int64_t i = 0;

    if (v->type != JSN_ARRAY) {
        wrong_type(c, path, "list", v);
        return;
    }
    if (apply_shape_of(t, v) != APPLY_LEAF) {
        check_items(c, t, path, v);
        return;
    }
    JSN_FOR_ITEMS (item, v) {
        struct fieldset_path here = {path, {.kind = FIELDSET_INDEX, .index = i++}};

        check_value(c, apply_item_type(t), &here, item);
    }
}

static void check_value(struct checker *c, struct apply_type t, const struct fieldset_path *path,
                        const struct jsn *v)
{
    enum schema_type type = apply_value_type(t);

    if (v->type == JSN_NULL)
        return;
    switch (type) {
    case SCHEMA_ANY:
        if (t.schema && v->type == JSN_OBJECT)
            check_object(c, t, path, v);
        else if (t.schema && v->type == JSN_ARRAY)
            check_list(c, t, path, v);
        break;
    case SCHEMA_OBJECT:
        check_object(c, t, path, v);
        break;
    case SCHEMA_ARRAY:
        check_list(c, t, path, v);
        break;
    case SCHEMA_STRING:
        check_string(c, t.schema, path, v);
        break;
    case SCHEMA_INTEGER:
    case SCHEMA_NUMBER:
        check_number(c, path, v);
        break;
    case SCHEMA_BOOLEAN:
        if (v->type != JSN_BOOL)
            wrong_type(c, path, "boolean", v);
        break;
    case SCHEMA_INT_OR_STRING:
        break;
    }
}

int apply_check(const struct schema *schema, const struct jsn *v, struct err *e)
{
    AUTO(arena_done) struct arena a = {0};
    struct checker c = {.a = &a};
    int r = 0;

    check_value(&c, apply_type_of(schema), NULL, v);
    if (c.n == 1)
        r = err_bad(e, "%s", buf_str(&c.faults) + 3);
    else if (c.n > 1)
        r = err_bad(e, "errors:%s", buf_str(&c.faults));
    buf_done(&c.faults);
    return r;
}
