/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The work queue: keys of objects to plan for, each at most once, with back-off after failures. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "src/base/cleanup.h"

struct queue;

/* Delays after failures double from the first to the last. */
struct queue *queue_new(int64_t backoff_first_ms, int64_t backoff_max_ms);
struct queue *queue_free(struct queue *q);
DEFINE_AUTO(struct queue, queue_free);

/* Something happened: plan for the key as soon as possible; Controllers go before all others.  One
 * that is being worked on is handed out again when it is done. */
void queue_add(struct queue *q, const char *key);
/* Plan for it then, at the latest; of several times the earliest counts. */
void queue_add_at(struct queue *q, const char *key, int64_t at_ms);

/* The next key, which is being worked on from now on; NULL: none is due.  Valid until its
 * queue_done. */
const char *queue_take(struct queue *q, int64_t now_ms);
/* The work on a taken key has ended.  Failed: it comes back after its back-off, or as soon as
 * something happens.  Returns the delay until then, 0 on success. */
int64_t queue_done(struct queue *q, const char *key, bool failed, int64_t now_ms);

/* Is a Controller due? */
bool queue_has_urgent(const struct queue *q);
/* Milliseconds until a key is due: 0 now, -1 none waits. */
int64_t queue_wait_ms(const struct queue *q, int64_t now_ms);
/* Keys that are due or wait for their time; and those being worked on. */
size_t queue_waiting(const struct queue *q);
size_t queue_running(const struct queue *q);
/* How often in a row the key has failed. */
unsigned queue_failures(const struct queue *q, const char *key);
