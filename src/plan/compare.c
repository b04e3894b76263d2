/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Comparing an observed object with a desired one.
 *
 * Two questions, since an API server completes what it is given.  "Is what we want there?" must be
 * answered without a write, hence covers.  "What has to be sent?" is answered exactly, hence patch:
 * it also takes away what is no longer wanted; defaults that it removes come back by themselves.
 */
#include "src/plan/compare.h"

#include "src/json/quantity.h"

static bool is_void(const struct jsn *v)
{
    return !v || v->type == JSN_NULL ||
           ((v->type == JSN_OBJECT || v->type == JSN_ARRAY) && jsn_len(v) == 0) ||
           (v->type == JSN_STRING && v->s.n == 0);
}

static bool covers_object(const struct jsn *observed, const struct jsn *desired)
{
    JSN_FOR_MEMBERS (m, desired)
        if (!compare_covers(jsn_member(observed, m->key), m->value))
            return false;
    return true;
}

static bool covers_array(const struct jsn *observed, const struct jsn *desired)
{
    if (jsn_len(observed) != jsn_len(desired))
        return false;
    for (size_t i = 0; i < jsn_len(desired); i++)
        if (!compare_covers(jsn_item(observed, i), jsn_item(desired, i)))
            return false;
    return true;
}

/* A quantity may be written as a number and in many spellings: 1, "1", "1000m". */
static bool read_quantity(const struct jsn *v, struct quantity *ret)
{
    struct err e = {0};

    if (v->type == JSN_STRING)
        return quantity_parse(v->s, ret, &e) == 0;
    if (v->type == JSN_INT) {
        *ret = (struct quantity){.nano = (__int128)v->i * 1000000000};
        return true;
    }
    return false;
}

static bool same_quantity(const struct jsn *a, const struct jsn *b)
{
    struct quantity x;
    struct quantity y;

    return read_quantity(a, &x) && read_quantity(b, &y) && quantity_cmp(&x, &y) == 0;
}

bool compare_covers(const struct jsn *observed, const struct jsn *desired)
{
    if (is_void(desired))
        return is_void(observed) || desired == NULL || desired->type != JSN_STRING;
    if (desired->type == JSN_OBJECT && (is_void(observed) || observed->type == JSN_OBJECT))
        return covers_object(observed, desired);
    if (is_void(observed))
        return desired->type == JSN_BOOL && !desired->b;
    if (desired->type == JSN_ARRAY && observed->type == JSN_ARRAY)
        return covers_array(observed, desired);
    return jsn_equal(observed, desired) || same_quantity(observed, desired);
}

static struct jsn *patch_object(struct arena *a, const struct jsn *observed,
                                const struct jsn *desired)
{
    struct jsn *patch = jsn_object(a);

    JSN_FOR_MEMBERS (m, desired) {
        const struct jsn *was = jsn_member(observed, m->key);
        struct jsn *change = compare_patch(a, was, m->value);

        if (change)
            jsn_set_member(a, patch, m->key, change);
    }
    JSN_FOR_MEMBERS (old, observed)
        if (is_void(jsn_member(desired, old->key)) && !is_void(old->value) &&
            !jsn_member(patch, old->key))
            jsn_set_member(a, patch, old->key, jsn_null(a));
    return jsn_len(patch) ? patch : NULL;
}

struct jsn *compare_patch(struct arena *a, const struct jsn *observed, const struct jsn *desired)
{
    if (is_void(desired))
        return is_void(observed) ? NULL : jsn_null(a);
    if (jsn_is(observed, JSN_OBJECT) && desired->type == JSN_OBJECT)
        return patch_object(a, observed, desired);
    if (jsn_equal(observed, desired))
        return NULL;
    return jsn_clone(a, desired);
}
