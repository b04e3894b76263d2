/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tokens of service accounts: their claims, signed and read.  Pure. */
#pragma once

#include "src/json/jsn.h"

#define ACCOUNT_TOKEN_ISSUER "https://kubernetes.default.svc.cluster.local"

struct token_key {
    unsigned char bytes[32];
};

/* Texts are borrowed; those of a token that was read live in the arena. */
struct account_token {
    const char *ns;
    const char *account;
    const char *uid;             /* of the account */
    const char *id;              /* of this token */
    const struct jsn *audiences; /* a list of texts */
    int64_t issued_s;
    int64_t expires_s;      /* 0: never, for a token that lives in a Secret */
    const char *bound_kind; /* "pod", "secret", "node"; NULL: bound to the account alone */
    const char *bound_name;
    const char *bound_uid;
    const char *node_name; /* where a bound pod runs, if known */
    const char *node_uid;
};

char *account_token_sign(const struct token_key *key, struct arena *a,
                         const struct account_token *t);

/*
 * Read a token that this key signed.  Times and audiences are the caller's to check, and whether
 * what it names is still there.  -EACCES: not ours, or of an older form that tells too little.
 */
int account_token_read(const struct token_key *key, struct arena *a, struct str token,
                       struct account_token *ret_token) MUST_CHECK;
