/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the agent of a Controller is, and what it is known by. */
#pragma once

#include "src/operator/agent_link.h"
#include "src/operator/memos.h"
#include "src/operator/world.h"
#include "src/plan/controller.h"

/*
 * From the pods of slurmctld and the agent's Secret; strings live in `a`.  False: there is no
 * agent, or not yet.
 */
bool agent_target_find(struct arena *a, const struct world *w, const struct plan_controller *in,
                       struct agent_target *ret);

/* A new certificate and token, in `a`; NULL where the Secret is there, or is not needed. */
const struct build_agent_keys *agent_target_fresh_keys(struct arena *a, const struct world *w,
                                                       const struct build_cluster *c,
                                                       struct memos *memos);
