/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The keys that a cluster's pods have: a Secret of the operator's own. */
#pragma once

#include "src/api/key_material.h"
#include "src/build/cluster.h"

/* Members of the Secret beside the files that pods mount. */
#define LIVE_KEYS_CURRENT "current" /* what everybody signs with, as its author wrote it */
#define LIVE_KEYS_OTHER "other"     /* what is accepted as well, likewise */
#define ANNOTATION_KEY_STAGE API_OWN_GROUP "/key-stage"
#define ANNOTATION_KEY_SINCE API_OWN_GROUP "/key-stage-since"

/* By what the daemons of this cluster know each other. */
enum key_shape build_key_shape(const struct build_cluster *c);

/* Files of the Secret that make up the daemons' common key; ends with NULL. */
const char *const *build_key_files(const struct build_cluster *c);

struct build_live_keys {
    const char *stage; /* told to those who have the keys: "3-accept" */
    struct str current;
    struct str other; /* empty: none */
    struct str jwt;   /* empty: none */
};

/*
 * The data of Secret <name>-keys.  -EEXIST with a sentence where the two cannot be accepted side by
 * side.
 */
int build_live_data(struct arena *a, const struct build_cluster *c,
                    const struct build_live_keys *keys, struct jsn **ret, struct err *e) MUST_CHECK;
/* The Secret with it. */
struct jsn *build_live_secret(struct arena *a, const struct build_cluster *c, struct jsn *data,
                              struct jsn *annotations);

/* A member of a Secret's data, decoded, in `a`; empty: it is not there, or no base64. */
struct str build_secret_bytes(struct arena *a, const struct jsn *secret, const char *key);

/* A hash of the files for slurmctld's pod, which is made again when it changes; "" where slurmctld
 * need not be: the agent looks after it, or munge does. */
const char *build_live_hash(struct arena *a, const struct build_cluster *c, bool jwt);
