/* SPDX-License-Identifier: GPL-2.0-or-later */
/* People who share a cluster: each an account with roles and a token. */
#pragma once

#include "src/local/ask.h"

/* The namespace that holds the accounts of people. */
#define USERS_NAMESPACE "slurmkeeper-users"

struct users_grant {
    const char *role; /* a ClusterRole */
    const char *ns;   /* where it holds; NULL: in the whole cluster */
};

struct users_token {
    const char *text;
    const char *until; /* "2027-01-09T10:00:00Z": what the server gave */
};

/* Is it a name that a user can have?  A DNS label. */
bool users_name_ok(const char *name);

/* Make the account if it is missing, give it a role more, and get a token that is good for so many
 * days at most.  All texts are in `a`. */
int users_add(struct ask *k, struct arena *a, const char *name, const struct users_grant *g,
              int64_t days, struct users_token *ret_token, struct err *e) MUST_CHECK;

/* A list of {"name", "since", "roles"}; the roles are one text: "edit in team, view". */
int users_list(struct ask *k, struct arena *a, struct jsn **ret_list, struct err *e) MUST_CHECK;

/* Remove the account, with which every token of it dies, then its bindings.  -ENOENT: there is
 * neither. */
int users_remove(struct ask *k, struct arena *a, const char *name, struct err *e) MUST_CHECK;
