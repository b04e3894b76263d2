/* SPDX-License-Identifier: GPL-2.0-or-later */
/* May they do that?  Decisions about requests, from the index of rights. */
#pragma once

#include "src/cluster/apiserver/rbac/index.h"

struct route;

/* Members of system:masters may do everything, whatever the roles say. */
bool rbac_user_is_master(const struct api_user *u);

/*
 * May this user do that?  With an arena, *ret_reason says by which binding, or, for a refusal,
 * which of the user's roles are missing; "" where there is nothing to say.
 */
bool rbac_allows(const struct rbac_index *x, const struct api_user *u,
                 const struct rbac_request *q);
bool rbac_explain(const struct rbac_index *x, struct arena *a, const struct api_user *u,
                  const struct rbac_request *q, const char **ret_reason);

/* All rules that a user has in a namespace, those of the whole cluster included. */
struct rbac_rules rbac_rules_of(const struct rbac_index *x, struct arena *a,
                                const struct api_user *u, const char *ns);

/* What a request wants, by its method, path and query. */
void rbac_request_of_route(struct api_call *c, const struct route *r,
                           struct rbac_request *ret_request);

/* The same unless the user of the call is allowed to. */
int rbac_check(struct api_call *c, const struct rbac_request *q);

/* The object of the call, with another verb than the call has. */
struct rbac_request rbac_request_of_call(const struct api_call *c, const char *verb);
/* An update or apply that makes its object needs the right to create, too. */
int rbac_check_verb(struct api_call *c, const char *verb);
