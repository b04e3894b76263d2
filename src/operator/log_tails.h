/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The ends of pods' logs, for plans that have to say why something does not come up. */
#pragma once

#include "src/kube/client.h"

struct log_tails;

/* A log was read: the object of this key ("Accounting/ns/name") has something to look at. */
typedef void (*log_tails_fn)(void *arg, const char *key);

/* The client must outlive it. */
struct log_tails *log_tails_new(struct kube_client *c, log_tails_fn read, void *arg);
struct log_tails *log_tails_free(struct log_tails *t);
DEFINE_AUTO(struct log_tails, log_tails_free);

/*
 * The last lines of a container's log as they were read last; NULL: not yet, or they cannot be
 * read.  What is older than two seconds is read again, and `key` told when it is there.  Borrowed
 * until the next turn of the loop.
 */
const char *log_tails_get(struct log_tails *t, const char *ns, const char *pod, const char *uid,
                          const char *container, const char *key);
