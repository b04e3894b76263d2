/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * JSON patch: a list of operations, applied in order to a copy of the target.
 *
 * Each operation names a place by a JSON pointer: the container (all keys but the last) must be
 * there, the last key says what to do in it.  Texts of failures are those of the library that
 * Kubernetes uses, since people search for them.
 */
#include "src/json/patch_json.h"

/* Where an operation works: a container and the key in it. */
struct place {
    struct jsn *container;
    struct str key;
};

struct op {
    struct arena *a;
    const struct jsn *fields;
    struct jsn **root;
    size_t *copied;
    struct err *e;
};

static struct str unescape(struct arena *a, struct str part)
{
    char *out;
    size_t n = 0;

    if (str_find(part, '~') == part.n)
        return part;
    out = arena_alloc(a, part.n + 1);
    for (size_t i = 0; i < part.n; i++) {
        bool escape = part.p[i] == '~' && i + 1 < part.n;

        if (escape && (part.p[i + 1] == '0' || part.p[i + 1] == '1'))
            out[n++] = part.p[++i] == '0' ? '~' : '/';
        else
            out[n++] = part.p[i];
    }
    out[n] = '\0';
    return (struct str){out, n};
}

/* The position that `key` names in a list of n items; false if it names none.  */
static bool list_position(struct str key, size_t n, size_t *ret)
{
    int64_t i;

    if (str_to_i64(key, &i) < 0 || i >= (int64_t)n || i < -(int64_t)n)
        return false;
    *ret = (size_t)(i < 0 ? i + (int64_t)n : i);
    return true;
}

static struct jsn *step(const struct jsn *v, struct str key)
{
    size_t i;

    if (!jsn_is(v, JSN_ARRAY))
        return jsn_member(v, key);
    return list_position(key, v->a.n, &i) ? v->a.items[i] : NULL;
}

static bool is_container(const struct jsn *v)
{
    return jsn_is(v, JSN_ARRAY) || jsn_is(v, JSN_OBJECT);
}

/* Walk all keys of the pointer but the last. */
static bool find_place(struct arena *a, struct jsn *root, struct str pointer, struct place *ret)
{
    struct jsn *at = root;
    struct str part;

    if (pointer.n == 0 || pointer.p[0] != '/')
        return false;
    (void)str_split(&pointer, '/', &part);
    while (str_split(&pointer, '/', &part) && pointer.p)
        at = step(at, unescape(a, part));
    *ret = (struct place){at, unescape(a, part)};
    return is_container(at);
}

/* The patch is well-formed but does not apply. */
#define CANNOT(op, ...) err_set((op)->e, -ECANCELED, ERR_PERMANENT, __VA_ARGS__)

static const char *field(const struct op *op, const char *name)
{
    return jsn_text(jsn_key(op->fields, name));
}

/* The place that field `name` of the operation points to. */
static int op_place(const struct op *op, const char *name, struct place *ret)
{
    const char *kind = field(op, "op");
    const char *pointer = field(op, name);

    if (!pointer) {
        (void)err_bad(op->e, "%s operation failed to decode %s: operation missing %s field", kind,
                      name, name);
        return -EINVAL;
    }
    if (!find_place(op->a, *op->root, str_of(pointer), ret)) {
        (void)CANNOT(op, "%s operation does not apply: doc is missing %s: \"%s\": missing value",
                     kind, name, pointer);
        return -ECANCELED;
    }
    return 0;
}

static int bad_index(const struct op *op, struct str key)
{
    return CANNOT(op,
                  "error in %s for path: '%s': Unable to access invalid index: " STR_FMT
                  ": invalid index referenced",
                  field(op, "op"), field(op, "path"), STR_ARG(key));
}

static int place_add(const struct op *op, struct place at, struct jsn *value)
{
    size_t i;

    if (at.container->type == JSN_OBJECT) {
        jsn_set_member(op->a, at.container, at.key, value);
        return 0;
    }
    if (str_eq(at.key, STR("-")))
        i = at.container->a.n;
    else if (!list_position(at.key, at.container->a.n + 1, &i))
        return bad_index(op, at.key);
    jsn_insert(op->a, at.container, i, value);
    return 0;
}

static int place_remove(const struct op *op, struct place at)
{
    size_t i;

    if (at.container->type == JSN_OBJECT) {
        if (jsn_del_member(at.container, at.key))
            return 0;
        return CANNOT(op,
                      "error in %s for path: '%s': Unable to remove nonexistent key: " STR_FMT
                      ": missing value",
                      field(op, "op"), field(op, "path"), STR_ARG(at.key));
    }
    if (!list_position(at.key, at.container->a.n, &i))
        return bad_index(op, at.key);
    jsn_remove_at(at.container, i);
    return 0;
}

/* What stands there; a missing member is null, a missing list item is a failure. */
static int place_get(const struct op *op, struct place at, struct jsn **ret)
{
    struct jsn *v = step(at.container, at.key);

    if (!v && at.container->type == JSN_ARRAY)
        return bad_index(op, at.key);
    *ret = v ? v : jsn_null(op->a);
    return 0;
}

static int op_value(const struct op *op, struct jsn **ret)
{
    const struct jsn *v = jsn_key(op->fields, "value");

    if (!v)
        return err_bad(op->e, "%s operation failed to decode value: operation missing value field",
                       field(op, "op"));
    *ret = jsn_clone(op->a, v);
    return 0;
}

static int run_add(const struct op *op)
{
    struct jsn *value = NULL;
    struct place at = {0};
    int r = op_place(op, "path", &at);

    if (r == 0)
        r = op_value(op, &value);
    return r < 0 ? r : place_add(op, at, value);
}

static int run_remove(const struct op *op)
{
    struct place at = {0};
    int r = op_place(op, "path", &at);

    return r < 0 ? r : place_remove(op, at);
}

static int run_replace(const struct op *op)
{
    struct jsn *value = NULL;
    struct place at = {0};
    size_t i;
    int r = op_value(op, &value);

    if (r < 0)
        return r;
    if (streq(field(op, "path"), "")) {
        if (!is_container(value))
            return CANNOT(op, "replace operation value must be object or array");
        *op->root = value;
        return 0;
    }
    r = op_place(op, "path", &at);
    if (r < 0)
        return r;
    assert(at.container);
    if (at.container->type == JSN_OBJECT) {
        jsn_set_member(op->a, at.container, at.key, value);
        return 0;
    }
    if (!list_position(at.key, at.container->a.n, &i))
        return CANNOT(op, "replace operation does not apply: doc is missing key: %s: missing value",
                      field(op, "path"));
    at.container->a.items[i] = value;
    return 0;
}

static int run_move(const struct op *op)
{
    struct jsn *value = NULL;
    struct place at = {0};
    int r = op_place(op, "from", &at);

    if (r == 0)
        r = place_get(op, at, &value);
    if (r == 0)
        r = place_remove(op, at);
    if (r == 0)
        r = op_place(op, "path", &at);
    return r < 0 ? r : place_add(op, at, value);
}

static int run_copy(const struct op *op)
{
    AUTO(buf_done) struct buf text = {.max = PATCH_JSON_MAX_COPY_BYTES};
    struct jsn *value = NULL;
    struct place at = {0};
    int r = op_place(op, "from", &at);

    if (r == 0)
        r = place_get(op, at, &value);
    if (r == 0)
        r = op_place(op, "path", &at);
    if (r < 0)
        return r;
    jsn_print(&text, value);
    *op->copied += text.overflow ? PATCH_JSON_MAX_COPY_BYTES + 1 : text.n;
    if (*op->copied > PATCH_JSON_MAX_COPY_BYTES)
        return err_set(op->e, -E2BIG, ERR_PERMANENT,
                       "Unable to complete the copy, the accumulated size increase of copy is %zu, "
                       "exceeding the limit %zu",
                       *op->copied, PATCH_JSON_MAX_COPY_BYTES);
    return place_add(op, at, jsn_clone(op->a, value));
}

static int run_test(const struct op *op)
{
    struct jsn *value = *op->root;
    struct jsn *wanted = NULL;
    struct place at = {0};
    int r = op_value(op, &wanted);

    if (r == 0 && !streq(field(op, "path"), "")) {
        r = op_place(op, "path", &at);
        if (r == 0)
            r = place_get(op, at, &value);
    }
    if (r < 0)
        return r;
    if (!jsn_equal(value, wanted))
        return CANNOT(op, "testing value %s failed: test failed", field(op, "path"));
    return 0;
}

static int run(const struct op *op)
{
    static const struct {
        const char *name;
        int (*fn)(const struct op *op);
    } kinds[] = {
        {"add", run_add},   {"remove", run_remove}, {"replace", run_replace},
        {"move", run_move}, {"copy", run_copy},     {"test", run_test},
    };
    const char *name = field(op, "op");

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (streq(name, kinds[i].name))
            return kinds[i].fn(op);
    return err_bad(op->e, "Unexpected kind: %s", name ? name : "unknown");
}

int patch_json(struct arena *a, const struct jsn *target, const struct jsn *patch,
               struct jsn **ret_value, struct err *e)
{
    struct jsn *root = jsn_clone(a, target);
    size_t copied = 0;

    if (!jsn_is(patch, JSN_ARRAY))
        return err_bad(e, "a JSON patch is a list of operations, not %s",
                       patch->type == JSN_OBJECT ? "an object" : jsn_type_name(patch->type));
    if (patch->a.n > PATCH_JSON_MAX_OPERATIONS)
        return err_set(e, -E2BIG, ERR_PERMANENT,
                       "The allowed maximum operations in a JSON patch is %d, got %zu",
                       PATCH_JSON_MAX_OPERATIONS, patch->a.n);
    JSN_FOR_ITEMS (fields, patch) {
        struct op op = {.a = a, .fields = fields, .root = &root, .copied = &copied, .e = e};
        int r = jsn_is(fields, JSN_OBJECT)
                    ? run(&op)
                    : err_bad(e, "an operation of a JSON patch is an object, not %s",
                              jsn_type_name(fields->type));

        if (r < 0)
            return r;
    }
    if (jsn_deeper_than(root, JSN_MAX_DEPTH))
        return err_set(e, -E2BIG, ERR_PERMANENT, "the patch nests values deeper than %d levels",
                       JSN_MAX_DEPTH);
    *ret_value = root;
    return 0;
}
