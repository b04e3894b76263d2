/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Host keys for LoginSets that have none yet: made beside the loop, since they take their time. */
#pragma once

#include "src/base/map.h"
#include "src/build/login.h"
#include "src/loop/loop.h"
#include "src/operator/queue.h"

/* Embedded in its owner; {0} is one that host_keys_done takes. */
struct host_keys {
    struct loop *loop;
    struct queue *queue;
    struct map orders; /* by the LoginSet's key in the queue */
};

/* What is borrowed outlives it. */
void host_keys_init(struct host_keys *h, struct loop *loop, struct queue *queue);
/* What is being made is given up. */
void host_keys_done(struct host_keys *h);

/*
 * The keys of "LoginSet/ns/name"; the first question has them made.  NULL: not yet; then that key
 * is put into the queue when there is news.  Borrowed until host_keys_drop.
 */
const struct build_host_keys *host_keys_get(struct host_keys *h, const char *key);
/* They are stored, or the LoginSet is gone. */
void host_keys_drop(struct host_keys *h, const char *key);
