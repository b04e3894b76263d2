/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The root file system of a container, made from the machine's own. */
#pragma once

#include "src/cluster/node/runtime/oci_config.h"

struct rootfs; /* how this machine's file system is laid out; found out once */

struct rootfs_options {
    const char *state_dir;       /* is not seen by containers */
    const char *node_dir;        /* where the copy of /etc is kept */
    const char *entrypoint_dir;  /* what containers see as ROOTFS_LIBEXEC/entrypoint; or NULL */
    const char *const *programs; /* files that they see in ROOTFS_LIBEXEC */
    const char *const *shares;   /* directories of the machine that all containers share */
    const char *slurm;           /* prefix whose programs they find first, as a rule; or NULL */
};

#define ROOTFS_LIBEXEC "/libexec/slurmkeeper"

int rootfs_new(const struct rootfs_options *o, struct rootfs **ret_rootfs,
               struct err *e) MUST_CHECK;
struct rootfs *rootfs_free(struct rootfs *r);
DEFINE_AUTO(struct rootfs, rootfs_free);

struct rootfs_wish {
    bool writes_sys;            /* privileged: /sys is writable */
    bool writes_cgroups;        /* its own control groups */
    bool may_mount;             /* it could make writable what is mounted read-only */
    const char *slurm;          /* prefix of the Slurm that it finds first; or NULL */
    const char *const *targets; /* where volumes and the like are mounted; NULL-terminated */
};

/* Make DIR/rootfs and the layers beside it; adds what is mounted there, before all volumes. */
int rootfs_make(struct rootfs *r, struct arena *a, const char *dir, const struct rootfs_wish *w,
                struct oci_mounts *mounts, struct err *e) MUST_CHECK;

/* What changed in the machine's /etc: running containers see it when this returns. */
int rootfs_refresh(struct rootfs *r, struct err *e) MUST_CHECK;

/* Where a container finds the start script of that name, in `a`; NULL if there is none. */
const char *rootfs_entrypoint(const struct rootfs *r, struct arena *a, const char *name);

/* The prefix that was given for all containers, or NULL. */
const char *rootfs_slurm(const struct rootfs *r);
/* PATH of containers, as an entry of an environment; in `a`.  `slurm`: as in the wish. */
const char *rootfs_path(struct arena *a, const char *slurm);

/* The directories that all containers share, none of which lies in another; NULL-terminated. */
char *const *rootfs_shares(const struct rootfs *r);

/* For people: "overlays", and where their writes are. */
const char *rootfs_kind(const struct rootfs *r);
