/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Carries out the actions of a plan through the Kubernetes API and the agents, many at a time. */
#pragma once

#include "src/kube/client.h"
#include "src/kube/event.h"
#include "src/operator/agents.h"
#include "src/plan/action.h"

struct execution; /* a plan under way */

struct executor {
    struct kube_client *client;
    struct kube_recorder *recorder;
    struct agents *agents; /* NULL: there are none, and what is for them fails */
    /* Asked before each write: may we still?  NULL: always. */
    bool (*may_write)(void *arg);
    /* The version in which the server has a kind; NULL: the kind's own. */
    const char *(*version)(void *arg, const struct plan_kind *kind);
    /* Told of each answer to a write; NULL: nobody. */
    void (*wrote)(void *arg, const struct action *a, const struct kube_failure *f);
    void *arg;
};

/* How a plan ended. */
struct execution_end {
    size_t writes; /* that succeeded */
    size_t failures;
    struct err first; /* of the failures; a permanent one goes before others */
    const char *step; /* where it happened */
    bool has_requeue;
    int64_t requeue_us; /* wall clock */
};

/* Called once, never inside execution_start; the execution is gone after it. */
typedef void (*execution_done_fn)(void *arg, const struct execution_end *end);

/*
 * Start.  `list` is copied; what its actions point to lives in `arena`, which is moved here (and is
 * empty afterwards).  `about` is borrowed during the call and names the object that events are
 * about.  The executor must outlive it.
 */
struct execution *execution_start(const struct executor *ex, const struct kube_reference *about,
                                  struct arena *arena, const struct actions *list,
                                  execution_done_fn done, void *arg);
/* Nothing is called back any more; calls under way are given up.  NULL-safe. */
struct execution *execution_cancel(struct execution *x);
