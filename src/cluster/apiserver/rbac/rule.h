/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rules of roles: what they allow, and whether some rules cover others.  Pure. */
#pragma once

#include "src/json/jsn.h"

/* What somebody wants to do: a verb on a resource, or on a path.  Texts are "" where absent. */
struct rbac_request {
    const char *verb;
    const char *group;
    const char *resource; /* NULL: the request is about `path` */
    const char *sub;
    const char *ns; /* "": the whole cluster */
    const char *name;
    const char *path;
};

/* One rule.  The lists end with NULL and are never NULL themselves; their texts are borrowed. */
struct rbac_rule {
    const char **verbs;
    const char **groups;
    const char **resources;
    const char **names;
    const char **urls;
};

struct rbac_rules {
    struct rbac_rule *items;
    size_t n;
    size_t cap;
};

/* The "rules" of a role.  Texts are borrowed from the tree, lists are made in the arena. */
void rbac_rules_read(struct arena *a, const struct jsn *list, struct rbac_rules *ret_rules);
/* Is a rule, or a subject, in a list of them? */
bool rbac_listed(const struct jsn *list, const struct jsn *one);
/* Append all rules of another list. */
void rbac_rules_add(struct arena *a, struct rbac_rules *to, const struct rbac_rules *more);

bool rbac_rule_allows(const struct rbac_rule *r, const struct rbac_request *q);

#define RBAC_MOST_SMALLEST 20000

/*
 * Do the rules held allow everything that the wanted ones do?  1: yes.  0: no; what is missing is
 * in *ret_missing, as rules of one verb, group, resource and name each.  -E2BIG: there are more
 * than RBAC_MOST_SMALLEST of these.
 */
int rbac_rules_cover(struct arena *a, const struct rbac_rules *held,
                     const struct rbac_rules *wanted, struct rbac_rules *ret_missing) MUST_CHECK;

/* As kube-apiserver shows missing rules: "{APIGroups:[""], Resources:["pods"], Verbs:["get"]}", one
 * to a line, verbs of the same thing together, sorted; of the first thousand. */
const char *rbac_rules_text(struct arena *a, const struct rbac_rules *rules);
