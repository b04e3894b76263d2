/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Strategic merge patch: objects.
 *
 * Works on copies of both arguments: the original's copy becomes the result, and what has been
 * dealt with is taken out of the patch's copy.  One object goes through four steps: a "$patch"
 * directive settles everything; "$retainKeys" clears members; "$setElementOrder/x" merges list x
 * and orders it; the rest of the patch merges member by member.
 *
 * A list (or object) that the original does not have is taken from the patch as it is, directives
 * in it included, as kube-apiserver does: whoever checks the result against the schema finds them.
 */
#include "src/json/patch_strategic.h"

#include "src/base/map.h"
#include "src/json/patch_list.h"
#include "src/json/patch_merge.h"

#define DIRECTIVE PATCH_DIRECTIVE
#define DELETE_PREFIX "$deleteFromPrimitiveList"
#define ORDER_PREFIX PATCH_ORDER_PREFIX
#define RETAIN_KEYS "$retainKeys"

struct merger {
    struct arena *a;
    struct err *e;
};

static int merge_object(const struct merger *m, struct jsn *original, struct jsn *patch,
                        const struct schema *schema, struct jsn **ret);

static int unknown_directive(const struct merger *m, const struct jsn *directive,
                             const struct jsn *patch)
{
    AUTO(buf_done) struct buf what = {0};
    AUTO(buf_done) struct buf where = {0};

    patch_print_go(&what, directive);
    patch_print_go(&where, patch);
    return err_bad(m->e, "unknown patch type: %.80s in map: %.200s", buf_str(&what),
                   buf_str(&where));
}

/* "$patch" in an object: the patch takes the original's place, or nothing does. */
static int apply_directive(const struct merger *m, struct jsn *patch, struct jsn **ret)
{
    const struct jsn *directive = jsn_key(patch, DIRECTIVE);

    if (streq(jsn_text(directive), "replace")) {
        (void)jsn_del(patch, DIRECTIVE);
        patch_prune_nulls(patch);
        *ret = patch;
        return 0;
    }
    if (!streq(jsn_text(directive), "delete"))
        return unknown_directive(m, directive, patch);
    *ret = jsn_object(m->a);
    return 0;
}

static bool is_retained(const struct jsn_member *member, const void *context)
{
    return map_get(context, member->key) != NULL;
}

/* "$retainKeys": members of the original that it does not list go away. */
static int retain_keys(const struct merger *m, struct jsn *original, struct jsn *patch)
{
    AUTO(map_done) struct map keys = {0};
    const struct jsn *list = jsn_key(patch, RETAIN_KEYS);

    if (!list)
        return 0;
    (void)jsn_del(patch, RETAIN_KEYS);
    if (list->type != JSN_ARRAY)
        return err_bad(m->e, "invalid patch format of retainKeys");
    JSN_FOR_ITEMS (item, list)
        if (item->type == JSN_STRING)
            (void)map_put(&keys, item->s, item);
    JSN_FOR_MEMBERS (member, patch)
        if (member->value->type != JSN_NULL && !str_starts(member->key, DELETE_PREFIX) &&
            !str_starts(member->key, ORDER_PREFIX) && !map_get(&keys, member->key))
            return err_bad(m->e, "invalid patch format of retainKeys");
    jsn_keep_members(original, is_retained, &keys);
    return 0;
}

/* After the slash of "$setElementOrder/x"; empty if there is none. */
static struct str directive_target(struct str key)
{
    size_t slash = str_find(key, '/');

    if (slash == key.n)
        return (struct str){"", 0};
    return (struct str){key.p + slash + 1, key.n - slash - 1};
}

/* Items with "$patch" in them: deletions, or the wish to replace the whole list. */
static int special_items(const struct merger *m, const struct jsn *patch, const char *key,
                         struct jsn *kept, struct jsn *deleted, bool *ret_replace)
{
    JSN_FOR_ITEMS (item, patch) {
        const struct jsn *directive = jsn_key(item, DIRECTIVE);
        AUTO(buf_done) struct buf b = {0};

        if (!directive) {
            jsn_append(m->a, kept, item);
        } else if (streq(jsn_text(directive), "replace")) {
            *ret_replace = true;
        } else if (streq(jsn_text(directive), "merge")) {
            return err_bad(m->e, "merging lists cannot yet be specified in the patch");
        } else if (!streq(jsn_text(directive), "delete")) {
            return unknown_directive(m, directive, item);
        } else if (!jsn_key(item, key)) {
            patch_print_go(&b, item);
            return err_bad(m->e, "map: %.200s does not contain declared merge key: %s", buf_str(&b),
                           key);
        } else {
            jsn_append(m->a, deleted, item);
        }
    }
    return 0;
}

/* Merge each item into the one of the same key, or append it. */
static int merge_items(const struct merger *m, struct jsn *list, const struct jsn *patch,
                       const char *key, const struct schema *items)
{
    AUTO(patch_index_done) struct patch_index known = patch_index_new(list, key);

    JSN_FOR_ITEMS (item, patch) {
        int64_t at = patch_index_find(&known, item);
        int r;

        if (at >= 0) {
            r = merge_object(m, list->a.items[at], item, items, &list->a.items[at]);
            if (r < 0)
                return r;
            continue;
        }
        patch_prune_nulls(item);
        patch_index_put(&known, item, list->a.n);
        jsn_append(m->a, list, item);
    }
    return 0;
}

static int merge_object_list(const struct merger *m, const struct jsn *original,
                             const struct jsn *patch, const struct schema *schema, struct jsn **ret)
{
    const char *key = schema->patch_key;
    struct jsn *kept = jsn_array(m->a);
    struct jsn *deleted = jsn_array(m->a);
    struct jsn *merged;
    bool replace = false;
    int r;

    if (!key)
        return err_bad(m->e, "cannot merge lists without merge key for %s",
                       schema->short_name ? schema->short_name : "struct");
    r = special_items(m, patch, key, kept, deleted, &replace);
    if (r == 0)
        r = patch_list_check_key(kept, key, m->e);
    if (r < 0)
        return r;
    if (replace) {
        *ret = kept;
        return 0;
    }
    original = patch_list_without(m->a, original, deleted, key);
    merged = patch_list_without(m->a, original, NULL, key);
    r = merge_items(m, merged, kept, key, schema->items);
    if (r == 0)
        r = patch_list_check_key(merged, key, m->e);
    if (r < 0)
        return r;
    *ret = patch_list_order(m->a, merged, kept, original, key);
    return 0;
}

/* Both are lists; `schema` is the list's and may be NULL. */
static int merge_list(const struct merger *m, struct jsn *original, struct jsn *patch,
                      const struct schema *schema, bool deletes, struct jsn **ret)
{
    enum patch_items items;
    int r;

    if (!schema || !(schema->patch & SCHEMA_PATCH_MERGE)) {
        *ret = patch;
        return 0;
    }
    r = patch_list_items(original, patch, &items, m->e);
    if (r < 0)
        return r;
    if (items == PATCH_ITEMS_EMPTY)
        *ret = original;
    else if (items == PATCH_ITEMS_OBJECTS)
        return merge_object_list(m, original, patch, schema, ret);
    else if (deletes)
        *ret = patch_list_without(m->a, original, patch, NULL);
    else
        *ret = patch_list_union(m->a, original, patch);
    return 0;
}

/* One "$setElementOrder/x": merge list x of both sides, put it in that order, take x off the patch.
 */
static int merge_ordered(const struct merger *m, struct jsn *original, struct jsn *patch,
                         const struct schema *schema, struct str field, const struct jsn *order)
{
    const struct schema *list_schema = schema_member(schema, field);
    const char *key = list_schema ? list_schema->patch_key : NULL;
    struct jsn *old = jsn_member(original, field);
    struct jsn *new = jsn_member(patch, field);
    struct jsn *merged = old ? old : new;
    int r;

    if (!merged)
        return 0;
    if ((old && old->type != JSN_ARRAY) || (new && new->type != JSN_ARRAY))
        return err_bad(m->e, "expected a []interface {}, but received a %s",
                       jsn_type_name(old && old->type != JSN_ARRAY ? old->type : new->type));
    r = key ? patch_list_check_key(order, key, m->e) : 0;
    if (r == 0)
        r = patch_list_check_order(new, order, key, m->e);
    if (r == 0 && old && new)
        r = merge_list(m, old, new, list_schema, false, &merged);
    if (r == 0 && key)
        r = patch_list_check_key(merged, key, m->e);
    if (r < 0)
        return r;
    old = patch_list_order_before(m->a, old, new, key);
    jsn_set_member(m->a, original, field, patch_list_order(m->a, merged, order, old, key));
    (void)jsn_del_member(patch, field);
    return 0;
}

static bool is_not_order(const struct jsn_member *member, const void *context)
{
    (void)context;
    return !str_starts(member->key, ORDER_PREFIX);
}

static int merge_all_ordered(const struct merger *m, struct jsn *original, struct jsn *patch,
                             const struct schema *schema)
{
    struct jsn *orders = jsn_object(m->a);

    JSN_FOR_MEMBERS (member, patch)
        if (!is_not_order(member, NULL))
            jsn_set_member(m->a, orders, member->key, member->value);
    if (orders->o.n)
        jsn_keep_members(patch, is_not_order, NULL);
    JSN_FOR_MEMBERS (member, orders) {
        struct str field = directive_target(member->key);
        int r;

        if (member->value->type != JSN_ARRAY || field.n == 0)
            return err_bad(m->e, "invalid patch format of setElementOrder list");
        r = merge_ordered(m, original, patch, schema, field, member->value);
        if (r < 0)
            return r;
    }
    return 0;
}

static int merge_member(const struct merger *m, struct jsn *original, struct str key,
                        struct jsn *value, const struct schema *schema, bool deletes)
{
    const struct schema *inner = schema_member(schema, key);
    struct jsn *old = jsn_member(original, key);
    struct jsn *merged = value;
    int r = 0;

    if (value->type == JSN_NULL) {
        (void)jsn_del_member(original, key);
        return 0;
    }
    if (!old || old->type != value->type) {
        if (deletes)
            return 0;
        patch_prune_nulls(value);
    } else if (old->type == JSN_ARRAY) {
        r = merge_list(m, old, value, inner, deletes, &merged);
    } else if (old->type == JSN_OBJECT && !(inner && inner->patch & SCHEMA_PATCH_REPLACE)) {
        r = merge_object(m, old, value, inner, &merged);
    }
    if (r < 0)
        return r;
    jsn_set_member(m->a, original, key, merged);
    return 0;
}

static bool is_not_nulled(const struct jsn_member *member, const void *context)
{
    return !jsn_is(jsn_member(context, member->key), JSN_NULL);
}

/* Both are ours to change. */
static int merge_object(const struct merger *m, struct jsn *original, struct jsn *patch,
                        const struct schema *schema, struct jsn **ret)
{
    int r;

    if (jsn_key(patch, DIRECTIVE))
        return apply_directive(m, patch, ret);
    r = retain_keys(m, original, patch);
    if (r == 0)
        r = merge_all_ordered(m, original, patch, schema);
    if (r < 0)
        return r;
    jsn_keep_members(original, is_not_nulled, patch);
    JSN_FOR_MEMBERS (member, patch) {
        bool deletes = str_starts(member->key, DELETE_PREFIX);
        struct str key = deletes ? directive_target(member->key) : member->key;

        if (deletes && key.n == 0)
            return err_bad(m->e, "invalid patch format of primitive list");
        r = merge_member(m, original, key, member->value, schema, deletes);
        if (r < 0)
            return r;
    }
    *ret = original;
    return 0;
}

int patch_strategic(struct arena *a, const struct schema *schema, const struct jsn *original,
                    const struct jsn *patch, struct jsn **ret_value, struct err *e)
{
    const struct merger m = {a, e};

    if (!jsn_is(original, JSN_OBJECT) || !jsn_is(patch, JSN_OBJECT))
        return err_bad(e, "invalid JSON document");
    return merge_object(&m, jsn_clone(a, original), jsn_clone(a, patch), schema, ret_value);
}
