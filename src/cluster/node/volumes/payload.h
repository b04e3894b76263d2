/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is in a volume that comes from the API: configMap, secret, downwardAPI, projected; pure. */
#pragma once

#include "src/cluster/node/pods/env.h"

struct payload_file {
    const char *path; /* relative, without ".." */
    struct str data;
    uint32_t mode;
};

/* Files in `arena`; a later one of the same path wins. */
struct payload {
    struct arena *arena;
    struct payload_file *files;
    size_t n;
    size_t cap;
};

struct payload_context {
    const struct pod_spec *pod;
    const struct field_context *fields;
    const struct object_source *source;
    /* A service account token, in `a`; NULL while it is being fetched. */
    const char *(*token)(void *arg, struct arena *a, const char *audience, int64_t seconds);
    void *token_arg;
};

/* Is this volume one of the four kinds? */
bool payload_is(const struct jsn *volume);

/* Does the volume use this ConfigMap or Secret? */
bool payload_uses(const struct jsn *volume, const char *plural, const char *name);

/*
 * Everything the volume holds now.  ERR_RETRY: something that it needs is not there (yet); the
 * sentence is a kubelet's.
 */
int payload_build(struct payload *p, const struct payload_context *x, const struct jsn *volume,
                  struct err *e) MUST_CHECK;
