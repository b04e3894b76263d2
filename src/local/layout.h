/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A cluster's state directory: what lies where, who holds it, what was chosen for it. */
#pragma once

#include "src/base/str.h"

#define LAYOUT_STATE "/var/lib/slurmkeeper"
#define LAYOUT_NAME "default"

/* In a Controller's directory of `clients`: a link to sackd's socket, where commands would not find
 * it by themselves. */
#define CLIENTS_SACK "sack.socket"

/* Absolute paths, owned. */
struct layout {
    char *state;
    char *kubeconfig; /* admin.kubeconfig */
    char *logs;       /* of the cluster's processes */
    char *clients;    /* NAMESPACE/CONTROLLER/slurm.conf for the machine's own Slurm commands */
    char *held;       /* who serves the cluster, and the lock that it holds (holder.c) */
};

/* `state` may be relative; it need not be there yet.  -EINVAL if another user but root owns it. */
int layout_init(struct layout *l, const char *state, struct err *e) MUST_CHECK;
void layout_done(struct layout *l);
DEFINE_AUTO_DONE(struct layout, layout_done);

/* Make the directories, so that other users of the machine reach `clients` and nothing else. */
int layout_make(const struct layout *l, struct err *e) MUST_CHECK;

/* Become the one who serves it: *ret_fd holds it until closed.  -EBUSY if somebody does; the error
 * names the process, its command and since when. */
int layout_lock(const struct layout *l, int *ret_fd, struct err *e) MUST_CHECK;
/* Who serves it; 0: nobody.  -1: somebody holds the lock whom nothing tells about. */
pid_t layout_holder(const struct layout *l);
/* Have whoever serves it end, and wait for that; the pods run on.  No other process than the one
 * that took the lock is ever signalled. */
int layout_end_holder(const struct layout *l, int64_t wait_ms, struct err *e) MUST_CHECK;
/* Is there a pod in it, running or not?  Without one nothing depends on its network. */
bool layout_has_pods(const struct layout *l);

/*
 * What was chosen when the cluster was first served, and stays: kept in cluster.json.  Strings are
 * owned; {0} is empty.
 */
struct choices {
    char *name;
    int port;       /* of the API server */
    char *pod_cidr; /* NULL: the node's choice */
    char **shares;  /* NULL-terminated; or NULL */
    bool no_agent;  /* as it is served now, or was last: not kept */
    char *slurm;    /* prefix of its Slurm; NULL: not chosen yet */
    char *release;  /* of that Slurm, when it was last served; or NULL */
};

void choices_done(struct choices *c);
DEFINE_AUTO_DONE(struct choices, choices_done);
/* -ENOENT where nothing was chosen yet. */
int choices_read(const struct layout *l, struct choices *ret, struct err *e) MUST_CHECK;
int choices_write(const struct layout *l, const struct choices *c, struct err *e) MUST_CHECK;

/* What pods run cannot change below them: -EINVAL where another Slurm is wanted; NULL wants none.
 */
int choices_check_slurm(const struct choices *kept, const struct layout *l, const char *slurm,
                        struct err *e) MUST_CHECK;
/* The prefix of its Slurm, for everybody who may use its commands: a link in `clients`.  Owned, or
 * NULL where the cluster was never served. */
char *layout_slurm(const struct layout *l);
int layout_put_slurm(const struct layout *l, const char *prefix, struct err *e) MUST_CHECK;

/* Is it a name of a cluster: at most 40 lower-case letters, digits and dashes? */
bool choices_name_ok(const char *name);
/* What pods exist under cannot change below them: -EINVAL where another name or range is wanted;
 * NULL wants none. */
int choices_check(const struct choices *kept, const char *state, const char *name,
                  const char *pod_cidr, struct err *e) MUST_CHECK;
/* A cluster that runs does not lose its agent: -EBUSY where somebody wants it without. */
int choices_check_agent(const struct choices *running, bool without, struct err *e) MUST_CHECK;
