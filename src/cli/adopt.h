/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between the files of `slurmkeeper adopt`: what our operator would do to a cluster of another. */
#pragma once

#include "src/local/ask.h"
#include "src/plan/action.h"
#include "src/plan/pods.h"

enum adopt_class {
    ADOPT_CHANGED,  /* objects are written; nothing that runs notices */
    ADOPT_KEPT,     /* runs on as it is */
    ADOPT_LEFT,     /* is not looked after by our operator */
    ADOPT_REPLACED, /* runs until it may go, then another takes its place */
    ADOPT_RESTART,  /* is started again at once */
};

struct adopt_effect {
    enum adopt_class class;
    const char *text;
};

/* In an arena. */
struct adopt_effects {
    struct arena *a;
    struct adopt_effect *items;
    size_t n;
    size_t cap;
};

void adopt_effect_add(struct adopt_effects *to, enum adopt_class class, const char *fmt, ...)
    PRINTF(3, 4);

/* An object of ours, and its first plan. */
struct adopt_subject {
    const struct jsn *object;
    const struct actions *plan;
    const struct plan_pod *const *pods; /* that it controls */
    size_t n_pods;
    bool first; /* nothing was planned for it before */
    /* A StatefulSet or Deployment as it is; NULL: there is none. */
    const struct jsn *(*live)(void *arg, const char *kind, const char *name);
    void *arg;
};

/* What the plan would do, in the words of those who use the cluster. */
void adopt_judge(const struct adopt_subject *s, struct adopt_effects *to);

/* The operator's caches, filled; and plans that are carried out on them alone. */
struct adopt_world;
int adopt_world_new(const char *kubeconfig, const char *ns, struct adopt_world **ret_world,
                    struct err *e) MUST_CHECK;
struct adopt_world *adopt_world_free(struct adopt_world *w);
DEFINE_AUTO(struct adopt_world, adopt_world_free);
/* Plan for an object, judge the plan and carry it out; returns whether anything was written. */
bool adopt_world_step(struct adopt_world *w, const char *kind, const char *ns, const char *name,
                      bool first, struct adopt_effects *to);

/*
 * Who else is there and has to go first: operators that lead, webhooks that would refuse our
 * writes.  A list of texts, each with the command that helps.
 */
int adopt_rivals(struct ask *k, struct arena *a, int64_t now_us, struct jsn **ret_list,
                 struct err *e) MUST_CHECK;
/* Is the lease still good?  `spec` of a Lease. */
bool adopt_lease_is_held(const struct jsn *spec, int64_t now_us);
