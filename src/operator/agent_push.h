/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Configurations on their way to an agent: one at a time, the newest wins. */
#pragma once

#include "src/http/client.h"
#include "src/json/jsn.h"
#include "src/plan/slurm_state.h"
#include "src/wire/outcome.h"

struct agent_push;

/* How to reach an agent.  All borrowed, and must outlive what uses it. */
struct agent_access {
    struct http_client *client;
    struct loop *loop;
    const char *base; /* "https://10.0.0.7:6821" */
    const char *token;
    struct http_client_tls tls;
};

/* Called when `agent_push_outcome` has changed; never inside a call of the owner. */
typedef void (*agent_pushed_fn)(void *arg);

struct agent_push *agent_push_new(const struct agent_access *access, agent_pushed_fn fn, void *arg);
struct agent_push *agent_push_free(struct agent_push *p);
DEFINE_AUTO(struct agent_push, agent_push_free);

/*
 * Send a configuration (build_config_push), now or after the one under way; it is sent again until
 * the agent has answered, or there is a newer one.  What is on its way already is not sent twice.
 */
void agent_push_start(struct agent_push *p, const struct jsn *body);

/* The agent is there again: do not wait for the delay's end. */
void agent_push_kick(struct agent_push *p);

/* How the last one that was answered fared; borrowed until the next turn.  Without a hash: none. */
const struct slurm_applied *agent_push_outcome(const struct agent_push *p);
/* The slurm.conf that slurmctld has, by the agent's word; NULL: it has not said so yet. */
const char *agent_push_held(const struct agent_push *p);
/* Its partitions (slurm_lines_read); NULL likewise. */
const struct map *agent_push_held_lines(const struct agent_push *p);
/* That of the outcome, as long as slurmctld is not known to have it; NULL: it is, or none. */
const char *agent_push_tried(const struct agent_push *p);
/* Wall clock: since when one has been on its way at any time; 0: none is. */
int64_t agent_push_since_us(const struct agent_push *p);
/* Is one on its way, for a moment only, and another one waits for its answer?  A third would take
 * the place of the second: there is no hurry to make it.  Who is told so is counted: if many have
 * to wait, there is a rest before the next one. */
bool agent_push_is_full(struct agent_push *p);
/* Why the newest has not been answered yet; NULL: it has, or is on its way. */
const char *agent_push_trouble(const struct agent_push *p);

/*
 * What the agent's state says of the last declaration.  One that was pending may have been applied
 * since; one whose answer was lost has an outcome now.  If another one is at work than was sent,
 * the outcome is forgotten: it has to be sent again.  Returns whether the outcome has changed.
 */
bool agent_push_follow(struct agent_push *p, const struct wire_outcome *o);
/* The first of these alone: was the answer lost that this is?  For a state that may be older than
 * the last answer. */
bool agent_push_recover(struct agent_push *p, const struct wire_outcome *o);
/* The agent has started again: what it said before counts no more. */
void agent_push_forget(struct agent_push *p);

/* Why a call failed, in words that stay the same while the cause does.  Owned. */
char *agent_trouble_text(const struct agent_access *access, const struct err *e);
