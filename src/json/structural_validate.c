/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Validation of a value by a structural schema.
 *
 * The order of checks, the fields and the sentences are those of kube-apiserver 1.26: type first,
 * then combinations, strings, numbers, list items, enum, members.  Members are visited in the order
 * of the schema, so that equal input gives equal output (Go's maps do not).  A null is held against
 * the type and the enum only.  Work is bounded: a value may need so many steps, and patterns have
 * a budget of their own; where these end the value is refused.
 */
#include <math.h>

#include "src/base/alloc.h"
#include "src/base/map.h"
#include "src/json/format.h"
#include "src/json/structural_check.h"

#define STEPS_MAX 20000000

static size_t push_key(struct checker *k, struct str key)
{
    size_t before = k->path.n;

    if (before)
        buf_addc(&k->path, '.');
    buf_addstr(&k->path, key);
    return before;
}

static void pop(struct checker *k, size_t before)
{
    k->path.n = before;
    if (k->path.p)
        k->path.p[before] = '\0';
}

static const char *type_text(enum schema_type t)
{
    switch (t) {
    case SCHEMA_OBJECT:
        return "object";
    case SCHEMA_ARRAY:
        return "array";
    case SCHEMA_STRING:
        return "string";
    case SCHEMA_INTEGER:
        return "integer";
    case SCHEMA_NUMBER:
        return "number";
    case SCHEMA_BOOLEAN:
        return "boolean";
    case SCHEMA_INT_OR_STRING:
        return "integer,string";
    case SCHEMA_ANY:
        break;
    }
    return "";
}

/* 1.0 is an integer, too, as long as a double can tell integers apart. */
static bool is_integer(const struct jsn *v)
{
    return v->type == JSN_INT ||
           (v->type == JSN_REAL && v->d == floor(v->d) && fabs(v->d) <= 9007199254740991.0);
}

static bool type_ok(const struct schema *s, const struct jsn *v)
{
    switch (s->type) {
    case SCHEMA_OBJECT:
        return v->type == JSN_OBJECT;
    case SCHEMA_ARRAY:
        return v->type == JSN_ARRAY;
    case SCHEMA_STRING:
        return v->type == JSN_STRING;
    case SCHEMA_INTEGER:
        return is_integer(v);
    case SCHEMA_NUMBER:
        return v->type == JSN_INT || v->type == JSN_REAL;
    case SCHEMA_BOOLEAN:
        return v->type == JSN_BOOL;
    case SCHEMA_INT_OR_STRING:
        return is_integer(v) || v->type == JSN_STRING;
    case SCHEMA_ANY:
        break;
    }
    return true;
}

/* What a number is in Go, which is what messages about formats name. */
static const char *go_format(const struct jsn *v)
{
    if (v->type == JSN_INT)
        return "int64";
    return v->type == JSN_REAL ? "float64" : "";
}

static void type_fault(struct checker *k, struct check_result *r, const char *want,
                       const char *found)
{
    check_fault(k, r, "FieldValueTypeInvalid", NULL,
                "Invalid value: \"%s\": %s in body must be of type %s: \"%s\"", found,
                buf_str(&k->path), want, found);
}

static void check_type(struct checker *k, const struct schema *s, const struct jsn *v,
                       struct check_result *r)
{
    bool formatted = s->type == SCHEMA_STRING && format_known(s->format);

    if (v->type == JSN_NULL && s->type != SCHEMA_ANY && !s->nullable)
        type_fault(k, r, type_text(s->type), "null");
    else if (v->type == JSN_NULL || type_ok(s, v))
        r->matches++;
    else if (formatted && v->type != JSN_ARRAY)
        type_fault(k, r, s->format, go_format(v));
    else
        type_fault(k, r, type_text(s->type), jsn_type_name(v->type));
}

static void check_enum(struct checker *k, const struct schema *s, const struct jsn *v,
                       struct check_result *r)
{
    AUTO(buf_done) struct buf b = {0};
    bool first = true;

    if (jsn_len(s->enum_values) == 0)
        return;
    JSN_FOR_ITEMS (allowed, s->enum_values)
        if (v->type != JSN_NULL && jsn_equal(allowed, v))
            return;
    buf_adds(&b, "Unsupported value: ");
    schema_print_go(&b, v);
    buf_adds(&b, ": supported values: ");
    JSN_FOR_ITEMS (allowed, s->enum_values) {
        AUTO(buf_done) struct buf text = {0};

        buf_adds(&b, first ? "" : ", ");
        first = false;
        if (allowed->type != JSN_STRING)
            jsn_print(&text, allowed);
        schema_print_go_string(&b, allowed->type == JSN_STRING ? allowed->s : buf_view(&text));
    }
    check_fault(k, r, "FieldValueNotSupported", NULL, "%s", buf_str(&b));
}

static bool has_twins(const struct jsn *v)
{
    AUTO(map_done) struct map seen = {0};
    AUTO(buf_done) struct buf b = {0};
    static char mark;

    JSN_FOR_ITEMS (item, v) {
        buf_clear(&b);
        schema_print_canonical(&b, item);
        if (!map_put(&seen, buf_view(&b), &mark))
            return true;
    }
    return false;
}

static void check_array(struct checker *k, const struct schema *s, const struct jsn *v,
                        struct check_result *r)
{
    size_t n = jsn_len(v);

    for (size_t i = 0; s->items && i < n; i++) {
        size_t before = k->path.n;

        buf_printf(&k->path, "[%zu]", i);
        check_value(k, s->items, jsn_item(v, i), r);
        pop(k, before);
    }
    if (s->min_items >= 0 && (int64_t)n < s->min_items)
        check_fault(k, r, "FieldValueInvalid", NULL,
                    "Invalid value: %zu: %s in body should have at least %lld items", n,
                    buf_str(&k->path), (long long)s->min_items);
    if (s->max_items >= 0 && (int64_t)n > s->max_items)
        check_fault(k, r, "FieldValueTooMany", NULL, "Too many: %zu: must have at most %lld item%s",
                    n, (long long)s->max_items, s->max_items == 1 ? "" : "s");
    if (s->unique_items && has_twins(v))
        check_fault(k, r, "FieldValueInvalid", NULL,
                    "Invalid value: \"\": %s in body shouldn't contain duplicates",
                    buf_str(&k->path));
    r->matches++;
}

static void check_size(struct checker *k, const struct schema *s, const struct jsn *v,
                       struct check_result *r)
{
    size_t n = jsn_len(v);

    if (s->min_properties >= 0 && (int64_t)n < s->min_properties)
        check_fault(k, r, "FieldValueInvalid", NULL,
                    "Invalid value: %zu: %s in body should have at least %lld properties", n,
                    buf_str(&k->path), (long long)s->min_properties);
    if (s->max_properties >= 0 && (int64_t)n > s->max_properties)
        check_fault(k, r, "FieldValueTooMany", NULL, "Too many: %zu: must have at most %lld item%s",
                    n, (long long)s->max_properties, s->max_properties == 1 ? "" : "s");
}

static void check_additional(struct checker *k, const struct schema *s, const struct jsn *v,
                             struct check_result *r)
{
    const struct jsn *extra = jsn_key(s->source, "additionalProperties");
    bool closed = jsn_is(extra, JSN_BOOL) && !extra->b;

    JSN_FOR_MEMBERS (m, v) {
        size_t before;

        if ((!s->additional && !closed) || schema_property(s, m->key))
            continue;
        if (closed) {
            check_fault(k, r, "FieldValueInvalid", NULL,
                        "Invalid value: \"%s\": %s.%s in body is a forbidden property", m->key.p,
                        buf_str(&k->path), m->key.p);
            continue;
        }
        before = push_key(k, m->key);
        check_value(k, s->additional, m->value, r);
        pop(k, before);
    }
}

static void check_properties(struct checker *k, const struct schema *s, const struct jsn *v,
                             struct check_result *r)
{
    for (size_t i = 0; i < s->n_properties; i++) {
        const struct jsn *member = jsn_member(v, s->properties[i].name);
        size_t before;

        if (!member)
            continue;
        before = push_key(k, s->properties[i].name);
        check_value(k, s->properties[i].schema, member, r);
        pop(k, before);
    }
}

static void check_required(struct checker *k, const struct schema *s, const struct jsn *v,
                           struct check_result *r)
{
    for (const char **name = s->required; name && *name; name++)
        if (!jsn_key(v, *name))
            check_fault(k, r, "FieldValueRequired", *name, "Required value");
}

static void check_object(struct checker *k, const struct schema *s, const struct jsn *v,
                         struct check_result *r)
{
    check_size(k, s, v, r);
    check_additional(k, s, v, r);
    check_properties(k, s, v, r);
    check_required(k, s, v, r);
}

static bool out_of_steps(struct checker *k, struct check_result *r)
{
    if (k->steps > 1) {
        k->steps--;
        return false;
    }
    schema_fault(&r->faults, "FieldValueInvalid", "<nil>",
                 "Invalid value: \"\": the object is too large to be held against its schema");
    return true;
}

void check_value(struct checker *k, const struct schema *s, const struct jsn *v,
                 struct check_result *r)
{
    if (!s || s->codec != SCHEMA_PLAIN || out_of_steps(k, r))
        return;
    if (s->type != SCHEMA_ANY || v->type == JSN_NULL) {
        check_type(k, s, v, r);
        r->matches++;
    }
    if (v->type == JSN_NULL) {
        check_enum(k, s, v, r);
        return;
    }
    check_combinations(k, s, v, r);
    if (v->type == JSN_STRING)
        check_string(k, s, v, r);
    if (v->type == JSN_INT || v->type == JSN_REAL)
        check_number(k, s, v, r);
    if (v->type == JSN_ARRAY)
        check_array(k, s, v, r);
    check_enum(k, s, v, r);
    if (v->type == JSN_OBJECT)
        check_object(k, s, v, r);
    /* One for each check that applied: combinations, its own type's, enum, and the whole. */
    r->matches += 3 + (v->type != JSN_BOOL);
}

/* Of the metadata of a resource only its names can have rules; the rest is the API's own. */
static void check_metadata(struct checker *k, const struct schema *s, const struct jsn *meta,
                           struct check_result *r)
{
    static const char *const names[] = {"name", "generateName"};
    size_t before = push_key(k, STR("metadata"));

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const struct schema_property *p = schema_property(s, str_of(names[i]));
        const struct jsn *v = jsn_key(meta, names[i]);
        size_t inner;

        if (!p || !v)
            continue;
        inner = push_key(k, p->name);
        check_value(k, p->schema, v, r);
        pop(k, inner);
    }
    pop(k, before);
}

/* A whole resource is an object like others, but for its metadata. */
static void check_root(struct checker *k, const struct schema *s, const struct jsn *v,
                       struct check_result *r)
{
    const struct schema_property *meta = schema_property(s, STR("metadata"));
    struct schema rest = *s;
    size_t n = 0;

    rest.properties = xcalloc(s->n_properties + 1, sizeof(*rest.properties));
    for (size_t i = 0; i < s->n_properties; i++)
        if (&s->properties[i] != meta)
            rest.properties[n++] = s->properties[i];
    rest.n_properties = n;
    if (meta)
        check_metadata(k, meta->schema, jsn_key(v, "metadata"), r);
    check_value(k, &rest, v, r);
    free(rest.properties);
}

void schema_validate(const struct structural *how, const struct schema *s, const struct jsn *v,
                     const char *prefix, bool root, struct schema_faults *faults)
{
    struct checker k = {.how = how,
                        .arena = faults->arena,
                        .prefix = prefix,
                        .budget = {PATTERN_BUDGET_STEPS},
                        .steps = STEPS_MAX};
    struct check_result r = {.faults = *faults};

    if (root)
        check_root(&k, s, v, &r);
    else
        check_value(&k, s, v, &r);
    *faults = r.faults;
    buf_done(&k.path);
}
