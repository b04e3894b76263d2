/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keys as bytes: what is fit to be one, and two sets of keys put together. */
#pragma once

#include "src/json/jsn.h"

/* By what the daemons of a cluster know each other. */
enum key_shape {
    KEY_MUNGE,     /* munge: one key */
    KEY_SLURM_ONE, /* auth/slurm before 24.05: slurm.key */
    KEY_SLURM_SET, /* auth/slurm: slurm.jwks, made of one key or of a set */
    KEY_JWT,       /* signs users' tokens */
};

#define KEY_MAX_BYTES ((size_t)64 << 10)

/*
 * May the value of a Secret be used?  `is_set`: it is a set of keys (slurm.jwks), and not one key.
 * -EINVAL with a sentence that begins with what is wrong: "has 3 bytes, and munge needs 32".
 */
int key_check(enum key_shape shape, bool is_set, struct str value, struct err *e) MUST_CHECK;

/* One source of keys for a slurm.jwks; an empty value is none. */
struct key_source {
    struct str value;
    bool is_set;
    const char *id; /* the kid of a single key */
};

/*
 * The slurm.jwks that signs with the default key of `sign` and accepts all keys of both, in `a`.
 * `stage` is told in it.  Both must have passed key_check.  -EEXIST: they have different keys of
 * the same kid.
 */
int key_set_join(struct arena *a, const char *stage, const struct key_source *sign,
                 const struct key_source *also, const struct jsn **ret, struct err *e) MUST_CHECK;
