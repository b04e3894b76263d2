/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Edits of a node list as scontrol writes them: nodes=+n[5-10],-n1.
 *
 * Elements with the same sign are gathered and applied as one set, so that a long edit costs a few
 * passes over the set and not one for each element; how often the sign may change is capped.
 */
#include "src/slurm/hostset.h"

#include <ctype.h>

/* Changes of sign in one edit: each costs a pass over the set. */
#define HOSTSET_MAX_TURNS 256

/* The next element of a host list as text: up to a separator outside brackets. */
static bool element_next(struct str *rest, struct str *ret_element)
{
    size_t n = 0;
    bool inside = false;

    while (rest->n > 0 && (rest->p[0] == ',' || isspace((unsigned char)rest->p[0])))
        *rest = (struct str){rest->p + 1, rest->n - 1};
    while (n < rest->n && (inside || (rest->p[n] != ',' && !isspace((unsigned char)rest->p[n])))) {
        inside = rest->p[n] == '[' || (inside && rest->p[n] != ']');
        n++;
    }
    *ret_element = (struct str){rest->p, n};
    *rest = (struct str){rest->p + n, rest->n - n};
    return n > 0;
}

/* Add (or take away) a group of elements that share a sign; *now is replaced. */
static void group_apply(struct host_set **now, struct host_list *group, char sign)
{
    AUTO(hostset_free) struct host_set *part = hostset_of(group);
    struct host_set *next = sign == '+' ? hostset_union(*now, part) : hostset_minus(*now, part);

    hostset_free(*now);
    *now = next;
}

static int edit_apply(struct host_set **now, struct str spec, struct err *e)
{
    AUTO(hostlist_free) struct host_list *group = hostlist_new();
    struct str element;
    char sign = '+';
    unsigned turns = 0;

    while (element_next(&spec, &element)) {
        AUTO(hostlist_free) struct host_list *part = NULL;
        const struct host_range *ranges;
        size_t n;
        int r;

        if (element.p[0] != sign) {
            group_apply(now, group, sign);
            hostlist_free(group);
            group = hostlist_new();
            sign = element.p[0];
            if (++turns > HOSTSET_MAX_TURNS)
                return err_bad(e, "host list changes between '+' and '-' more than %d times",
                               HOSTSET_MAX_TURNS);
        }
        r = hostlist_parse((struct str){element.p + 1, element.n - 1}, &part, e);
        if (r < 0)
            return r;
        ranges = hostlist_ranges(part, &n);
        for (size_t i = 0; i < n; i++)
            hostlist_push_range(group, &ranges[i]);
        if (hostlist_count(group) > HOSTLIST_MAX_NAMES)
            return err_bad(e, "host list has more than %d names", HOSTLIST_MAX_NAMES);
    }
    group_apply(now, group, sign);
    return 0;
}

int hostset_edit(const struct host_set *set, struct str spec, struct host_set **ret_set,
                 struct err *e)
{
    AUTO(hostset_free) struct host_set *now = NULL;
    struct str rest = spec;
    struct str element;
    bool plain = false;
    bool edits = false;
    int r;

    if (spec.n > HOSTLIST_MAX_BYTES)
        return err_bad(e, "host list of %zu bytes is too long", spec.n);
    while (element_next(&rest, &element)) {
        bool is_edit = element.p[0] == '+' || element.p[0] == '-';

        edits = edits || is_edit;
        plain = plain || !is_edit;
    }
    if (edits && plain)
        return err_bad(e, "host list '%.*s': either all elements start with '+' or '-', or none",
                       (int)MIN(spec.n, (size_t)200), spec.p);
    if (!edits)
        return hostset_parse(spec, ret_set, e);
    now = hostset_union(set, set);
    r = edit_apply(&now, spec, e);
    if (r < 0)
        return r;
    *ret_set = TAKE(now);
    return 0;
}
