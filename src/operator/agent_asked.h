/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Changes of nodes that were asked for and do not show in Slurm's state yet. */
#pragma once

#include "src/loop/loop.h"
#include "src/plan/slurm_state.h"

/*
 * A change is noted before it is sent.  It is forgotten when the state shows it, when it fails, or
 * ASKED_MAX_MS after it was sent: `expired` is then called with the node's name, so that somebody
 * looks at the node again.
 */
#define ASKED_MAX_MS 20000
#define ASKED_SEEN_MS 5000 /* after the answer: the state must show it by then */

typedef void (*asked_expired_fn)(void *arg, const char *node);

struct asked;
struct asked *asked_new(struct loop *l, asked_expired_fn expired, void *arg);
struct asked *asked_free(struct asked *k);
DEFINE_AUTO(struct asked, asked_free);

/* `action` is drain, undrain, resume or delete; of an update it is its body.
 * A newer change of the same node takes the place of an older one. */
void asked_put(struct asked *k, const char *node, const char *action);
/* The change was answered: it failed, or the state will show it soon. */
void asked_answered(struct asked *k, const char *node, const char *action, bool failed);
/* Forget what this state shows. */
void asked_compare(struct asked *k, const struct slurm_state *s);
/* What is still asked for; borrowed until the next call. */
const struct slurm_asked *asked_list(struct asked *k, size_t *ret_n);
