/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a controller wants done: a list of writes, made by pure functions, carried out elsewhere. */
#pragma once

#include "src/json/jsn.h"

enum action_verb {
    ACTION_CREATE,
    ACTION_UPDATE, /* everything but the status */
    ACTION_STATUS, /* the status, and annotations along with it */
    ACTION_DELETE,
};

struct action {
    enum action_verb verb;
    const char *resource; /* as the store names it: "pods", "statefulsets.apps" */
    struct jsn *object;   /* the wanted state; for DELETE the one that goes */
};

/*
 * Actions in the order in which they are to be done.  {.arena = .., .now_us = ..} is an empty plan;
 * everything in it lives in the arena.
 */
struct plan {
    struct arena *arena;
    int64_t now_us;
    struct action *items;
    size_t n;
    size_t cap;
    int64_t again_ms; /* look again after this time though nothing changes; 0: no need */
};

/* The object is borrowed. */
void plan_add(struct plan *p, enum action_verb verb, const char *resource, struct jsn *object);
/* Ask for another look in at most that long; times that have passed count as the next moment. */
void plan_again(struct plan *p, int64_t delay_ms);
/* Put a new status on a clone of `object`; nothing is planned where it says the same already. */
void plan_status(struct plan *p, const char *resource, const struct jsn *object,
                 struct jsn *status);
/* The plan's time as Kubernetes writes it. */
const char *plan_now(const struct plan *p);
