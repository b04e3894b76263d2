/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A set of things to look at again, worked off a few at a time. */
#pragma once

#include "src/base/list.h"
#include "src/base/map.h"
#include "src/loop/loop.h"

/*
 * Keys are texts; adding one that is waiting already does nothing.  The work function runs on the
 * loop, at most `batch` keys a turn, in the order they were added; a key that it wants to see again
 * it adds again.
 */
typedef void (*workset_fn)(void *arg, const char *key);

struct workset {
    struct list queue;
    struct map waiting;
    struct loop_source *timer;
    int64_t armed_ms; /* when it is due, while it is armed */
    workset_fn fn;
    void *arg;
    size_t batch;
};

void workset_init(struct workset *w, struct loop *l, size_t batch, workset_fn fn, void *arg);
void workset_done(struct workset *w);
void workset_add(struct workset *w, const char *key);
/* Add a key after a while: for what failed and should be tried again. */
void workset_add_later(struct workset *w, const char *key, int64_t delay_ms);
