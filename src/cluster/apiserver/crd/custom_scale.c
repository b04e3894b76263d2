/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The numbers of a custom object that its scale subresource shows.
 *
 * The definition names their paths; where something stands there it must be what the subresource
 * can show: a count that fits 32 bits, and a selector that is text.  Fields and sentences are those
 * of kube-apiserver, the dot in front included.
 */
#include "src/cluster/apiserver/crd/custom.h"
#include "src/json/structural.h"

static const char *go_type_name(const struct jsn *v)
{
    static const char *const names[] = {
        [JSN_NULL] = "<nil>",
        [JSN_BOOL] = "bool",
        [JSN_INT] = "int64",
        [JSN_REAL] = "float64",
        [JSN_STRING] = "string",
        [JSN_ARRAY] = "[]interface {}",
        [JSN_OBJECT] = "map[string]interface {}",
    };

    return names[v->type];
}

/* A value as Go's %v shows it; of what has parts, the JSON. */
static const char *plain(struct arena *a, const struct jsn *v)
{
    AUTO(buf_done) struct buf b = {0};

    if (v->type == JSN_STRING)
        return arena_str(a, v->s);
    jsn_print(&b, v);
    return arena_str(a, buf_view(&b));
}

/* What stands at ".a.b.c".  NULL with *ret_wrong unset if there is nothing; *ret_wrong is the value
 * on the way that is no object. */
static const struct jsn *at(const struct jsn *object, const char *path,
                            const struct jsn **ret_wrong)
{
    struct str rest = str_of(path[0] == '.' ? path + 1 : path), key;
    const struct jsn *v = object;

    while (str_split(&rest, '.', &key)) {
        if (!jsn_is(v, JSN_OBJECT)) {
            *ret_wrong = v;
            return NULL;
        }
        v = jsn_member(v, key);
        if (!v || v->type == JSN_NULL)
            return NULL;
    }
    return v;
}

static void wrong_type(struct causes *cs, const char *path, const char *shown,
                       const struct jsn *found, const char *want)
{
    cause_add(cs, "FieldValueInvalid", path,
              "Invalid value: %s: %s accessor error: %s is of the type %s, expected %s", shown,
              path, plain(cs->arena, found), go_type_name(found), want);
}

static void check_count(struct causes *cs, const struct jsn *object, const char *path)
{
    const struct jsn *wrong = NULL, *v = at(object, path, &wrong);

    if (wrong)
        wrong_type(cs, path, "0", wrong, "map[string]interface{}");
    if (!v)
        return;
    if (v->type != JSN_INT)
        wrong_type(cs, path, "0", v, "int64");
    else if (v->i < 0)
        cause_invalid(cs, path, v, "should be a non-negative integer");
    else if (v->i > INT32_MAX)
        cause_invalid(cs, path, v, "should be less than or equal to %d", INT32_MAX);
}

static void check_selector(struct causes *cs, const struct jsn *object, const char *path)
{
    const struct jsn *wrong = NULL, *v = at(object, path, &wrong);

    if (wrong)
        wrong_type(cs, path, "\"\"", wrong, "map[string]interface{}");
    else if (v && v->type != JSN_STRING)
        wrong_type(cs, path, "\"\"", v, "string");
}

void custom_validate_scale(struct causes *cs, const struct resource *res, const struct jsn *object,
                           enum custom_door door)
{
    const struct jsn *scale = jsn_get(res->crd_version, "subresources.scale");
    const char *spec = jsn_get_str(scale, "specReplicasPath");
    const char *status = jsn_get_str(scale, "statusReplicasPath");
    const char *selector = jsn_get_str(scale, "labelSelectorPath");

    if (spec && door == CUSTOM_WHOLE)
        check_count(cs, object, spec);
    if (status)
        check_count(cs, object, status);
    if (selector && *selector)
        check_selector(cs, object, selector);
}
