/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The agents of all Controllers: who is linked to which, and what is known through them. */
#pragma once

#include "src/operator/agent_link.h"

struct agents;

/* `ns` and `controller` tell which; none is called inside a call of the owner. */
struct agents_events {
    void (*changed)(void *arg, const char *ns, const char *controller,
                    const struct agent_change *c);
    void (*lost)(void *arg, const char *ns, const char *controller);
    /* `refusal`: the configuration was refused, or is no longer. */
    void (*pushed)(void *arg, const char *ns, const char *controller, bool refusal);
    void *arg;
};

int agents_new(struct loop *l, const struct agents_events *events, struct agents **ret_agents,
               struct err *e) MUST_CHECK;
struct agents *agents_free(struct agents *g);
DEFINE_AUTO(struct agents, agents_free);

/* The Controller's agent is there (NULL: it has none, or not yet).  A link to the same one stays.
 */
void agents_set(struct agents *g, const char *ns, const char *controller,
                const struct agent_target *t);
/* All links are cut: somebody else leads now. */
void agents_clear(struct agents *g);

/* NULL: the Controller has none. */
struct agent_link *agents_find(const struct agents *g, const char *ns, const char *controller);
/* How many there are, and of how many Slurm's state is known. */
size_t agents_count(const struct agents *g, size_t *ret_known);
