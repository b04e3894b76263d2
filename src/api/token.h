/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kind Token: a user's token for Slurm, made, renewed, and kept in a Secret. */
#pragma once

#include "src/api/condition.h"
#include "src/api/lookup.h"
#include "src/api/meta.h"
#include "src/api/problems.h"
#include "src/api/refs.h"

#define API_TOKEN_KEY "SLURM_JWT"

struct api_token_spec {
    const struct api_key_ref *jwt_hs256_key_ref;
    const struct api_key_ref *jwt_key_ref;
    const char *username;
    int64_t lifetime_ms;
    bool refresh;
    const struct api_key_ref *secret_ref;
};

struct api_token_status {
    int64_t observed_generation;
    int64_t issued_us;
    int64_t expires_us;
    struct api_conditions conditions;
};

struct api_token {
    struct api_meta meta;
    struct api_token_spec spec;
    struct api_token_status status;
};

extern const struct jsn_field api_token_fields[];
extern const struct jsn_field api_token_status_fields[];

/* Decode into `a`; nothing points into v.  The error names the field. */
int api_token_decode(struct arena *a, const struct jsn *v, struct api_token *ret,
                     struct err *e) MUST_CHECK;

/* The key that signs it; NULL: none is named. */
const struct api_key_ref *api_token_jwt_ref(const struct api_token *t);
/* Where it is kept; in `a`. */
struct api_key_ref api_token_secret(struct arena *a, const struct api_token *t);

/* What the object alone tells; what other objects tell; what may not change. */
void api_token_check(const struct api_token *t, struct api_problems *p);
void api_token_check_refs(const struct api_token *t, const struct api_lookup *l,
                          struct api_problems *p);
void api_token_check_update(const struct api_token *t, const struct api_token *old,
                            struct api_problems *p);
