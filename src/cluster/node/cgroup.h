/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The machine's control groups, whichever kind it has: v1, hybrid or v2. */
#pragma once

#include <stdbool.h>

#include "src/base/str.h"
#include "src/cluster/node/pods/limits.h"

struct buf;
struct cgroup_tree;

/* `root` is the group that everything of this node is below: "/slurmkeeper-lab". */
int cgroup_tree_new(const char *root, struct cgroup_tree **ret_tree, struct err *e) MUST_CHECK;
/* The same for another table of mounts, and hierarchies that are mounted below `top`. */
int cgroup_tree_find(const char *mounts, const char *top, const char *root,
                     struct cgroup_tree **ret_tree, struct err *e) MUST_CHECK;
struct cgroup_tree *cgroup_tree_free(struct cgroup_tree *t);
DEFINE_AUTO(struct cgroup_tree, cgroup_tree_free);

bool cgroup_is_v2(const struct cgroup_tree *t);
/* crun 1.8 refuses trees that have v1 and v2 side by side. */
bool cgroup_is_hybrid(const struct cgroup_tree *t);
/* Can this resource ("cpu", "memory") be limited here? */
bool cgroup_limits(const struct cgroup_tree *t, const char *controller);
const char *cgroup_root(const struct cgroup_tree *t);

/* cgroup.procs of the group that shims live in, one a hierarchy, NULL-terminated; made if missing.
 * Borrowed. */
const char *const *cgroup_shim_procs(struct cgroup_tree *t);

/*
 * Make a group, in all hierarchies, and hold it to these limits.  For a container that writes its
 * own groups: it lives in a group below this one, from where it cannot lift them.
 */
int cgroup_fence(const struct cgroup_tree *t, const char *group, const struct ctr_limits *l,
                 struct err *e) MUST_CHECK;
/* The settings of such a group, "file=value" lines, for v1 or v2; pure. */
void cgroup_settings(const struct ctr_limits *l, bool v2, struct buf *b);

/* The file that counts the processes of a group which were killed for want of memory; owned. */
char *cgroup_oom_file(const struct cgroup_tree *t, const char *group);

/* Is there a process in or below a group? */
bool cgroup_busy(const struct cgroup_tree *t, const char *group);
/* Visit the groups directly below the root, by their names. */
void cgroup_children(const struct cgroup_tree *t, void (*fn)(void *arg, const char *name),
                     void *arg);

/* Remove a group and what is below it, in all hierarchies; groups with processes stay. */
void cgroup_remove(const struct cgroup_tree *t, const char *group);
/* Kill every process in and below a group. */
void cgroup_kill(const struct cgroup_tree *t, const char *group);
/* Let frozen processes in and below a group go on: those of v1 do not die of any signal. */
void cgroup_thaw(const struct cgroup_tree *t, const char *group);
