/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keys being worked on: each is planned for and carried out. */
#pragma once

#include "src/base/list.h"
#include "src/operator/executor.h"
#include "src/operator/host_keys.h"
#include "src/operator/metrics.h"
#include "src/operator/queue.h"
#include "src/operator/reconcile.h"

/* What work is done with; all of it is borrowed and outlives the work. */
struct work_tools {
    const struct world *world;
    struct agents *agents;
    struct log_tails *tails;
    struct queue *queue;
    const struct executor *executor;
    struct metrics *metrics;
    const struct build_env *env;
    struct loop *loop;
    bool (*may_work)(void *arg);
    void (*ended)(void *arg); /* a key is done: another may have its turn */
    void *arg;
};

/* Embedded in its owner; {0} is one that work_done takes. */
struct work {
    struct work_tools tools;
    struct list jobs;
    struct memos memos;
    struct host_keys host_keys;
};

void work_init(struct work *w, const struct work_tools *tools);
/* What is under way is given up. */
void work_done(struct work *w);

/* Plan for a key that was taken from the queue, and carry it out; it is given back at the end. */
void work_start(struct work *w, const char *key);
