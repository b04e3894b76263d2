/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The volumes of a pod on this machine: made, refreshed, found, taken away. */
#pragma once

#include "src/cluster/node/runtime/oci_config.h"
#include "src/cluster/node/volumes/payload.h"

struct volumes_context {
    const char *dir;        /* of the pod: DIR/volumes/NAME is where they are */
    const char *claims_dir; /* of the node: where claims are kept */
    char *const *shares;    /* directories that containers may write, NULL-terminated; or NULL */
    struct payload_context payload;
    int64_t fs_group; /* -1: none */
    /* The directory of a bound claim, in `a`; NULL with e set while it is not bound. */
    const char *(*claim)(void *arg, struct arena *a, const char *ns, const char *name,
                         struct err *e);
    void *claim_arg;
};

/* Make all volumes that any container mounts; safe to repeat. */
int volumes_make(struct arena *a, const struct volumes_context *x, struct err *e) MUST_CHECK;

/* Write volumes from the API again where they have changed.  Errors are told after all were tried.
 */
int volumes_refresh(struct arena *a, const struct volumes_context *x, bool *ret_changed,
                    struct err *e) MUST_CHECK;

/* Add the mounts of a container, its subPaths made; `env` expands subPathExpr. */
int volumes_mount(struct arena *a, const struct volumes_context *x, const struct ctr_spec *c,
                  const char *const *env, struct oci_mounts *mounts, struct err *e) MUST_CHECK;

/* The /dev/shm that the containers of the pod share: DIR/shm. */
int volumes_make_shm(const char *pod_dir, struct err *e) MUST_CHECK;

/* Unmount what was mounted for the pod: below its directory, and parts of volumes. */
void volumes_unmount(const char *pod_dir);
