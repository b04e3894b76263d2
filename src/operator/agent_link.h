/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The link to one agent: Slurm's state as it changes, configurations, changes of nodes. */
#pragma once

#include "src/http/client.h"
#include "src/json/jsn.h"
#include "src/operator/agent_state.h"

struct agent_link;
struct agent_call; /* a change of a node under way */

/* Borrowed during agent_link_new. */
struct agent_target {
    const char *address; /* of the pod: "10.0.0.7", "fd00::7" */
    int port;
    const char *cert_pem; /* the agent's own, and the only one that is trusted */
    const char *host;     /* the name that it is for */
    const char *token;
};

/* None is called inside a call of the owner. */
struct agent_events {
    /* The state has changed, or is known again (then `full` is set). */
    void (*changed)(void *arg, const struct agent_change *c);
    /* The state is not known any more. */
    void (*lost)(void *arg);
    /* A configuration was answered, or there is another reason why it is not. */
    void (*pushed)(void *arg);
    void *arg;
};

/* Starts at once. */
struct agent_link *agent_link_new(struct loop *l, struct http_client *c,
                                  const struct agent_target *t, const struct agent_events *events);
/* Nothing is called back any more, but for changes of nodes: they go on by themselves. */
struct agent_link *agent_link_free(struct agent_link *k);
DEFINE_AUTO(struct agent_link, agent_link_free);

/* Is it the same target? */
bool agent_link_is_to(const struct agent_link *k, const struct agent_target *t);

/* Slurm's state; NULL while it is not known.  Borrowed until the loop's next turn. */
const struct slurm_state *agent_link_view(struct agent_link *k);
/* Why it is not known, or why the last configuration is not there yet; NULL: all is well. */
const char *agent_link_trouble(const struct agent_link *k);

/* See agent_push_start. */
void agent_link_push(struct agent_link *k, const struct jsn *body);

/* See agent_push_is_full. */
bool agent_link_is_full(struct agent_link *k);

/* The answer to a change: NULL, or why it failed.  Called once, never inside the start. */
typedef void (*agent_done_fn)(void *arg, const struct err *e);

/* POST /v1/nodes/NODE, or DELETE where the action is "delete".  Outlives the link, not the client.
 * The handle is valid until fn is called or the call is cancelled. */
struct agent_call *agent_link_change_node(struct agent_link *k, const char *node,
                                          const struct jsn *body, agent_done_fn fn, void *arg);
/* Have the node drained, if it is not, and fail with -EBUSY if it has work even so; -ENOENT: Slurm
 * has no such node. */
struct agent_call *agent_link_hold_node(struct agent_link *k, const char *node, const char *reason,
                                        agent_done_fn fn, void *arg);
void agent_call_cancel(struct agent_call *call);
