/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pure: from a running and a wanted configuration to the steps that turn one into the other. */
#pragma once

#include "src/agent/live.h"
#include "src/slurm/classify.h"

enum step_kind {
    STEP_REHEARSE,    /* start a scratch slurmctld on the candidate */
    STEP_WRITE,       /* the live files */
    STEP_CREATE,      /* a partition */
    STEP_UPDATE,      /* a partition */
    STEP_RECONFIGURE, /* slurmctld reads its files */
    STEP_RESTART,     /* slurmctld starts again */
    STEP_DELETE,      /* a partition that is no longer declared */
    STEP_SETTLE,      /* files again: without what was deleted, with what must drain first */
    STEP_READ_BACK,   /* everything that was changed is as declared */
    STEP_N,
};
/* "write", "rpc", "reconfigure", ... as answers name it. */
const char *step_name(enum step_kind kind);

struct apply_step {
    enum step_kind kind;
    const char *partition;   /* of CREATE, UPDATE, DELETE */
    struct conf_pair *pairs; /* what to set; an empty value takes a setting back */
    size_t n;
    const char *what; /* "partition debug: State=UP -> DRAIN"; NULL where the kind says it all */
};

struct apply_plan {
    struct arena arena;
    struct apply_step *steps;
    size_t n;
    size_t cap;
};
void plan_done(struct apply_plan *p);
DEFINE_AUTO_DONE(struct apply_plan, plan_done);

struct apply_input {
    uint32_t release;
    const struct model *to;       /* slurm.conf as it shall be, with what is kept */
    const struct conf_diff *diff; /* from what runs to `to` */
    enum change_class class;      /* of all files */
    bool files_differ;            /* also if they mean the same */
    bool rehearse;                /* a scratch slurmctld can be started */
    bool reassert;                /* every partition that is not as declared, changed or not */
    const struct live *live;      /* NULL: slurmctld does not answer */
    const struct host_set *all;   /* every node, or NULL if not known */
    const char *const *leaving;   /* partitions to be deleted; they still stand in `to` */
    size_t n_leaving;
    bool tell_nodes; /* nodes have their files from slurmctld, which hands them on by reconfigure */
    bool recount;    /* a reconfigure miscounts jobs: a start has to follow */
    bool delete_first; /* they do not stand in `to`, which could not hold them: no start without */
};

/*
 * Plan.  A partition that changes is asserted as a whole, by at most one call; the new default
 * comes before the old one goes.  Nothing is planned that is there already.  Everything in *ret
 * lives in its arena.  Fails if a partition has a value that cannot be read.
 */
int apply_plan(const struct apply_input *in, struct apply_plan *ret, struct err *e) MUST_CHECK;

/* RPC if the plan makes a call about a partition. */
enum change_class plan_class(const struct apply_plan *p);

/* The changes that turn what is live into what is declared; what no call can do is left out. */
int plan_partition(const struct apply_input *in, const struct model_object *object,
                   struct apply_plan *ret, struct err *e) MUST_CHECK;
