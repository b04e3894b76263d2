/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rules as text, in the form in which kube-apiserver names rights that are missing.
 *
 * The rules are the smallest ones (rule.h).  Those that differ in the verb alone are shown as one.
 * Rules beyond the first thousand are left out: nobody reads them.
 */
#include <stdlib.h>

#include "src/base/buf.h"
#include "src/cluster/apiserver/rbac/rule.h"

#define MAX_RULES 1000

static bool same_first(const char **a, const char **b)
{
    return streq(a[0], b[0]);
}

/* May be shown together: the same thing, with other verbs. */
static bool same_thing(const struct rbac_rule *a, const struct rbac_rule *b)
{
    return same_first(a->groups, b->groups) && same_first(a->resources, b->resources) &&
           same_first(a->names, b->names) && same_first(a->urls, b->urls) && !a->urls[0];
}

static void add_list(struct buf *b, const char *key, const char *const *list)
{
    if (!list[0])
        return;
    buf_printf(b, "%s%s:[", b->n > 1 ? ", " : "", key);
    for (size_t i = 0; list[i]; i++) {
        buf_adds(b, i ? " " : "");
        jsn_print_string(b, str_of(list[i]));
    }
    buf_addc(b, ']');
}

static const char *rule_text(struct arena *a, const struct rbac_rule *r, const char *const *verbs)
{
    AUTO(buf_done) struct buf b = {0};

    buf_addc(&b, '{');
    add_list(&b, "APIGroups", r->groups);
    add_list(&b, "Resources", r->resources);
    add_list(&b, "NonResourceURLs", r->urls);
    add_list(&b, "ResourceNames", r->names);
    add_list(&b, "Verbs", verbs);
    buf_addc(&b, '}');
    return arena_str(a, buf_view(&b));
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* One line for the i-th rule and all like it; NULL if it has been shown with an earlier one. */
static const char *line(struct arena *a, const struct rbac_rules *rules, size_t i)
{
    const char **verbs = arena_calloc(a, rules->n + 1, sizeof(*verbs));
    size_t n = 0;

    for (size_t k = 0; k < rules->n; k++) {
        if (k != i && !same_thing(&rules->items[k], &rules->items[i]))
            continue;
        if (k < i)
            return NULL;
        verbs[n++] = rules->items[k].verbs[0];
    }
    return rule_text(a, &rules->items[i], verbs);
}

const char *rbac_rules_text(struct arena *a, const struct rbac_rules *all)
{
    struct rbac_rules shown = {all->items, MIN(all->n, MAX_RULES), 0};
    const struct rbac_rules *rules = &shown;
    const char **lines = arena_calloc(a, rules->n + 1, sizeof(*lines));
    AUTO(buf_done) struct buf b = {.max = 65536};
    size_t n = 0;

    for (size_t i = 0; i < rules->n; i++) {
        lines[n] = line(a, rules, i);
        n += lines[n] != NULL;
    }
    qsort(lines, n, sizeof(*lines), by_text);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || !streq(lines[i], lines[i - 1]))
            buf_printf(&b, "%s%s", i ? "\n" : "", lines[i]);
    return arena_str(a, buf_view(&b));
}
