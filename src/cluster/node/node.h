/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The node: runs the pods of a cluster on this machine. */
#pragma once

#include "src/loop/loop.h"

struct node;

/* Strings are borrowed during node_new. */
struct node_options {
    const char *state_dir;
    const char *kubeconfig;    /* NULL: state_dir/node.kubeconfig */
    const char *cluster;       /* names the bridge and the control groups; "default" */
    const char *node_name;     /* of the Node object; NULL: the machine's host name */
    const char *pod_cidr;      /* NULL: the last one, or a free one */
    const char *slurm;         /* prefix of the Slurm that pods find first; NULL: by PATH */
    const char *const *shares; /* directories that all pods share with the machine, or NULL */
};

/* Takes over what runs already, then follows the API. */
int node_new(struct loop *l, const struct node_options *o, struct node **ret_node,
             struct err *e) MUST_CHECK;
/* Pods run on; whoever comes next takes them over. */
struct node *node_free(struct node *n);
DEFINE_AUTO(struct node, node_free);

/*
 * Stop every pod of the state directory and remove what there is of it on the machine: containers,
 * namespaces, mounts, interfaces, control groups, the bridge.  Needs no API server, and blocks
 * until done.  `grace_s` is how long containers may take; 0 kills at once.
 */
int node_purge(const struct node_options *o, int64_t grace_s, struct err *e) MUST_CHECK;

/* Does a container of the state directory run?  Needs no other process; also true of pods whose
 * node process is long dead. */
bool node_pods_run(const char *state_dir);
