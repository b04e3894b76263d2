/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tokens of Slurm (auth/jwt): JWTs with HS256. */
#pragma once

#include "src/json/jsn.h"

struct jwt {
    const char *user;  /* claim sun */
    const char *id;    /* claim jti; NULL: none */
    int64_t issued_s;  /* iat, nbf */
    int64_t expires_s; /* exp */
};

/* In `a`. */
const char *jwt_sign(struct arena *a, struct str key, const struct jwt *t);

/*
 * Read a token whose signature this key has made.  -EACCES: another key, or none, has made it;
 * -EINVAL: it is no such token.  Whether it has expired is for the caller to say.
 */
int jwt_read(struct arena *a, struct str key, struct str token, struct jwt *ret,
             struct err *e) MUST_CHECK;
