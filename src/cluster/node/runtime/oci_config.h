/* SPDX-License-Identifier: GPL-2.0-or-later */
/* config.json of a container, for an OCI runtime; pure. */
#pragma once

#include "src/cluster/node/pods/limits.h"
#include "src/cluster/node/pods/pod_spec.h"

/* In the order of mounting.  Strings are borrowed. */
struct oci_mount {
    const char *to;
    const char *type; /* "bind", "overlay", "tmpfs", ... */
    const char *from;
    const char *options; /* joined by '\n', since overlay's own hold commas */
};

struct oci_mounts {
    struct arena *arena;
    struct oci_mount *items;
    size_t n;
    size_t cap;
};

/* Strings are borrowed, not copied. */
void oci_mounts_add(struct oci_mounts *m, const char *to, const char *type, const char *from,
                    const char *options);

struct oci_device {
    const char *path;
    bool block;
    uint32_t major;
    uint32_t minor;
    uint32_t mode; /* permissions */
};

/* What a container is to be; everything is borrowed. */
struct oci_input {
    const struct pod_spec *pod;
    const struct ctr_spec *ctr;
    const char *const *argv; /* NULL-terminated */
    const char *const *env;  /* "NAME=value", NULL-terminated */
    const char *cwd;
    const struct oci_mounts *mounts;
    const char *cgroups_path;
    struct ctr_limits limits;
    int pause_pid;                    /* who holds the namespaces of the pod */
    uint64_t may_have;                /* capabilities that we can give, by bit */
    bool own_cgroups;                 /* it sees its own control groups as the top ones */
    const struct oci_device *devices; /* of the machine; which it may open */
    size_t n_devices;
    const uint32_t *groups; /* supplementary ones */
    size_t n_groups;
};

/* The object, in `a`.  Fails on capabilities and the like that do not exist. */
int oci_config_build(struct arena *a, const struct oci_input *in, struct jsn **ret_config,
                     struct err *e) MUST_CHECK;

/* The process of another command in the same container, for the runtime's exec. */
struct jsn *oci_config_exec(struct arena *a, const struct jsn *config, const struct jsn *command,
                            bool tty);
