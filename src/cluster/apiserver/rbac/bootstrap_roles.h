/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The roles and bindings that every server has, as tables.  Lists are words with blanks between. */
#pragma once

#include "src/base/groups.h"

#define READ "get list watch"
#define WRITE "create delete deletecollection patch update"
#define ALL READ " " WRITE
#define TO_ADMIN "rbac.authorization.k8s.io/aggregate-to-admin"
#define TO_EDIT "rbac.authorization.k8s.io/aggregate-to-edit"
#define TO_VIEW "rbac.authorization.k8s.io/aggregate-to-view"
#define TO_SLURM_EDIT API_OWN_GROUP "/aggregate-to-slurm-edit"

#define RULE(role, verbs, groups, resources) {role, verbs, groups, resources, NULL, NULL}
#define NAMED(role, verbs, groups, resources, names) {role, verbs, groups, resources, names, NULL}
#define PATHS(role, urls) {role, "get", NULL, NULL, NULL, urls}

struct bootstrap_role {
    const char *name;
    const char *labels;    /* these are "true" on it; NULL: none */
    const char *aggregate; /* takes the rules of the roles with this label; NULL: has its own */
};

/* A rule of the role of that name; `groups` and `resources`, or `urls`. */
struct bootstrap_rule {
    const char *role;
    const char *verbs;
    const char *groups; /* "-" stands for the core group */
    const char *resources;
    const char *names; /* NULL: all */
    const char *urls;
};

/* Gives the ClusterRole of the same name. */
struct bootstrap_binding {
    const char *role;
    const char *kind;     /* User, Group, or ServiceAccount (of kube-system) */
    const char *subjects; /* NULL: nobody yet */
};

/* Each table ends with a NULL role. */
struct bootstrap_set {
    const struct bootstrap_role *roles;
    const struct bootstrap_rule *rules;
    const struct bootstrap_binding *bindings;
};

extern const struct bootstrap_set bootstrap_people;
extern const struct bootstrap_set bootstrap_programs;
extern const struct bootstrap_set bootstrap_own;
