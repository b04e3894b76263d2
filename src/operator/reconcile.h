/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From a key to a plan: the snapshot out of the caches, and what the plan says. */
#pragma once

#include "src/build/env.h"
#include "src/operator/agents.h"
#include "src/operator/log_tails.h"
#include "src/operator/memos.h"
#include "src/operator/world.h"
#include "src/plan/action.h"

/* What was planned for a key. */
struct reconcile {
    struct arena arena; /* of everything below */
    struct actions actions;
    const struct jsn *object; /* NULL: it is gone, and nothing is to be done */
    const char *kind;
    const char *namespace;
    const char *name;
    struct agents *agents;       /* set by the caller; NULL: there are none */
    struct memos *memos;         /* likewise */
    struct host_keys *host_keys; /* likewise */
    struct log_tails *tails;     /* likewise */
    /* What it is planned from, for the functions of its kind. */
    const struct world *world;
    const struct build_env *env;
    int64_t now_us;
};

void reconcile_done(struct reconcile *r);
DEFINE_AUTO_DONE(struct reconcile, reconcile_done);

/* "NodeSet/ns/name" into its parts, in the arena.  Keys are the operator's own: anything else
 * aborts. */
void reconcile_open(struct reconcile *r, const char *key);

/* Plan for the key.  Reads the caches; writes nothing.  The plan of a Controller also says where
 * its agent is. */
void reconcile_plan(struct reconcile *r, const struct world *w, const struct build_env *env,
                    int64_t now_us);

/* Plan to say in the object's status that carrying out a plan failed for good, and why. */
void reconcile_plan_failure(struct reconcile *r, const struct world *w, const char *step,
                            const char *why, int64_t now_us);
