/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rules.
 *
 * A rule names verbs, API groups and resources ("pods", "pods/log"), perhaps the names of single
 * objects; or verbs and paths.  A star stands for everything; before a subresource it stands for
 * any resource, and at the end of a path for any rest.  Subresources are resources of their own: a
 * rule for "pods" does not allow "pods/log".
 *
 * Whoever grants rights must hold them.  For that the wanted rules are broken down into the
 * smallest ones, and each must be covered by one rule that is held, as kube-apiserver does it.  A
 * short text can name more of them than there is time for: their number is limited.
 */
#include "src/cluster/apiserver/rbac/rule.h"

#include "src/cluster/apiserver/types/resource.h"

static const char **read_list(struct arena *a, const struct jsn *list)
{
    const char **texts = arena_calloc(a, jsn_len(list) + 1, sizeof(*texts));
    size_t n = 0;

    JSN_FOR_ITEMS (item, list)
        if (jsn_text(item))
            texts[n++] = jsn_text(item);
    return texts;
}

static void push(struct arena *a, struct rbac_rules *to, const struct rbac_rule *r)
{
    arena_reserve(a, &to->items, &to->cap, to->n + 1, sizeof(*to->items));
    to->items[to->n++] = *r;
}

void rbac_rules_read(struct arena *a, const struct jsn *list, struct rbac_rules *ret_rules)
{
    struct rbac_rules rules = {0};

    JSN_FOR_ITEMS (item, list) {
        struct rbac_rule r = {.verbs = read_list(a, jsn_key(item, "verbs")),
                              .groups = read_list(a, jsn_key(item, "apiGroups")),
                              .resources = read_list(a, jsn_key(item, "resources")),
                              .names = read_list(a, jsn_key(item, "resourceNames")),
                              .urls = read_list(a, jsn_key(item, "nonResourceURLs"))};

        push(a, &rules, &r);
    }
    *ret_rules = rules;
}

bool rbac_listed(const struct jsn *list, const struct jsn *one)
{
    JSN_FOR_ITEMS (item, list)
        if (jsn_equal(item, one))
            return true;
    return false;
}

void rbac_rules_add(struct arena *a, struct rbac_rules *to, const struct rbac_rules *more)
{
    for (size_t i = 0; i < more->n; i++)
        push(a, to, &more->items[i]);
}

static bool has_or_all(const char *const *list, const char *text)
{
    for (; *list; list++)
        if (streq(*list, "*") || streq(*list, text))
            return true;
    return false;
}

/* Is `item` ("pods", "pods/log", a star, a star before "/log") this resource and subresource? */
static bool resource_is(const char *item, const char *resource, const char *sub)
{
    size_t n = strlen(resource);

    if (streq(item, "*"))
        return true;
    if (!sub[0])
        return streq(item, resource);
    if (item[0] == '*' && item[1] == '/')
        return streq(item + 2, sub);
    return strncmp(item, resource, n) == 0 && item[n] == '/' && streq(item + n + 1, sub);
}

static bool resources_have(const char *const *list, const char *resource, const char *sub)
{
    for (; *list; list++)
        if (resource_is(*list, resource, sub))
            return true;
    return false;
}

/* A path, or with '*' at its end all that begin so. */
static bool url_covers(const char *item, const char *path)
{
    size_t n = strlen(item);

    if (n == 0 || item[n - 1] != '*')
        return streq(item, path);
    while (n > 0 && item[n - 1] == '*')
        n--;
    return strncmp(item, path, n) == 0;
}

static bool urls_have(const char *const *list, const char *path)
{
    for (; *list; list++)
        if (url_covers(*list, path))
            return true;
    return false;
}

bool rbac_rule_allows(const struct rbac_rule *r, const struct rbac_request *q)
{
    if (!has_or_all(r->verbs, q->verb))
        return false;
    if (!q->resource)
        return urls_have(r->urls, q->path);
    return has_or_all(r->groups, q->group) && resources_have(r->resources, q->resource, q->sub) &&
           (!r->names[0] || strings_have((const char *const *)r->names, q->name));
}

/* Does a rule that is held cover one of the smallest rules? */
static bool covers(const struct rbac_rule *held, const struct rbac_rule *one)
{
    const char *resource = one->resources[0];
    const char *slash = resource ? strchr(resource, '/') : NULL;

    if (!has_or_all(held->verbs, one->verbs[0]))
        return false;
    if (one->urls[0])
        return urls_have(held->urls, one->urls[0]);
    if (!has_or_all(held->groups, one->groups[0]) ||
        (held->names[0] &&
         (!one->names[0] || !strings_have((const char *const *)held->names, one->names[0]))))
        return false;
    if (has_or_all(held->resources, resource))
        return true;
    for (const char *const *h = (const char *const *)held->resources; slash && *h; h++)
        if (starts_with(*h, "*/") && streq(*h + 1, slash))
            return true;
    return false;
}

static const char **single(struct arena *a, const char *text)
{
    const char **list = arena_calloc(a, 2, sizeof(*list));

    list[0] = text;
    return list;
}

struct breakdown {
    struct arena *arena;
    const struct rbac_rules *held;
    struct rbac_rules missing;
};

static void check_one(struct breakdown *b, const struct rbac_rule *one)
{
    for (size_t i = 0; i < b->held->n; i++)
        if (covers(&b->held->items[i], one))
            return;
    push(b->arena, &b->missing, one);
}

static void break_names(struct breakdown *b, const struct rbac_rule *r, struct rbac_rule one)
{
    one.names = single(b->arena, NULL);
    if (!r->names[0])
        check_one(b, &one);
    for (const char **name = r->names; *name; name++) {
        one.names = single(b->arena, *name);
        check_one(b, &one);
    }
}

static void break_resources(struct breakdown *b, const struct rbac_rule *r, struct rbac_rule one)
{
    for (const char **group = r->groups; *group; group++)
        for (const char **resource = r->resources; *resource; resource++) {
            one.groups = single(b->arena, *group);
            one.resources = single(b->arena, *resource);
            break_names(b, r, one);
        }
}

static void break_rule(struct breakdown *b, const struct rbac_rule *r)
{
    const char **none = single(b->arena, NULL);
    struct rbac_rule one = {none, none, none, none, none};

    for (const char **verb = r->verbs; *verb; verb++) {
        one.verbs = single(b->arena, *verb);
        one.urls = none;
        break_resources(b, r, one);
        for (const char **url = r->urls; *url; url++) {
            one.urls = single(b->arena, *url);
            check_one(b, &one);
        }
    }
}

static size_t length(const char *const *list)
{
    size_t n = 0;

    while (list[n])
        n++;
    return n;
}

/* How many of the smallest rules these are; no list is longer than a body has bytes. */
static double count_smallest(const struct rbac_rules *rules)
{
    double n = 0;

    for (size_t i = 0; i < rules->n; i++) {
        const struct rbac_rule *r = &rules->items[i];
        double names = (double)MAX(length(r->names), 1u);

        n += (double)length(r->verbs) *
             ((double)length(r->groups) * (double)length(r->resources) * names +
              (double)length(r->urls));
    }
    return n;
}

int rbac_rules_cover(struct arena *a, const struct rbac_rules *held,
                     const struct rbac_rules *wanted, struct rbac_rules *ret_missing)
{
    struct breakdown b = {.arena = a, .held = held};

    if (count_smallest(wanted) > RBAC_MOST_SMALLEST)
        return -E2BIG;
    for (size_t i = 0; i < wanted->n; i++)
        break_rule(&b, &wanted->items[i]);
    *ret_missing = b.missing;
    return b.missing.n == 0 ? 1 : 0;
}
