/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All roles and bindings in memory, found by who is bound. */
#pragma once

#include "src/cluster/apiserver/call.h"
#include "src/cluster/apiserver/rbac/rule.h"

#define RBAC_GROUP "rbac.authorization.k8s.io"
#define RBAC_ROLES "roles." RBAC_GROUP
#define RBAC_CLUSTER_ROLES "clusterroles." RBAC_GROUP
#define RBAC_ROLE_BINDINGS "rolebindings." RBAC_GROUP
#define RBAC_CLUSTER_ROLE_BINDINGS "clusterrolebindings." RBAC_GROUP

struct rbac_index;
struct rbac_index *rbac_index_new(void);
struct rbac_index *rbac_index_free(struct rbac_index *x);
DEFINE_AUTO(struct rbac_index, rbac_index_free);

/* An object of one of the four resources as it now is, or its end; others are not looked at. */
void rbac_index_put(struct rbac_index *x, const char *resource, const char *ns, const char *name,
                    struct str data);
void rbac_index_drop(struct rbac_index *x, const char *resource, const char *ns, const char *name);

/* That somebody has a role.  Texts live as long as the binding. */
struct rbac_grant {
    const char *ns; /* of the binding; "": the whole cluster */
    const char *binding;
    bool cluster_role;
    const char *role;
    const char *subject_kind; /* User, Group, ServiceAccount */
    const char *subject_name;
    const char *subject_ns;
    const struct rbac_rules *rules; /* NULL: there is no such role */
};

/* Visit what a user has been given for a namespace ("": for the whole cluster alone).  The visitor
 * returns false to stop; it changes nothing in the index. */
typedef bool (*rbac_grant_fn)(void *arg, const struct rbac_grant *g);
void rbac_index_visit(const struct rbac_index *x, const struct api_user *u, const char *ns,
                      rbac_grant_fn fn, void *arg);

/* The rules of a role (ns "": of a ClusterRole), or NULL. */
const struct rbac_rules *rbac_index_role(const struct rbac_index *x, const char *ns,
                                         const char *name);
