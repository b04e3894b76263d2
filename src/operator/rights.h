/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the operator must be allowed to do, and no more. */
#pragma once

#include "src/json/jsn.h"

enum right_scope {
    RIGHT_EVERYWHERE, /* in all namespaces that it looks after */
    RIGHT_CLUSTER,    /* on what has no namespace; it can do without */
    RIGHT_AT_HOME,    /* in the namespace where it runs alone */
};

/* One resource and what is done with it.  Strings are static or in the arena of the list. */
struct right {
    enum right_scope scope;
    const char *group;
    const char *resource;     /* "pods", "pods/status" */
    const char *const *verbs; /* NULL-terminated */
    const char *name;         /* only the object of this name; NULL: all */
};

/* All of them, in `a`: from the table of kinds, and what the operator's own machinery needs. */
size_t rights_list(struct arena *a, const struct right **ret_list);

/* Those of a scope as rules of RBAC, for a Role or ClusterRole, after the rules of the list. */
void rights_add_rules(struct arena *a, enum right_scope scope, struct jsn *rules);
