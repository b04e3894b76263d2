/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Accepting connections on a listening socket, also when descriptors run out. */
#pragma once

#include "src/loop/loop.h"

struct acceptor;

/* A new connection, close-on-exec and not blocking; the callee takes it. */
typedef void (*acceptor_fn)(void *arg, int fd);
/* There is no descriptor left.  True: one was freed, try again at once; false: wait a moment. */
typedef bool (*acceptor_full_fn)(void *arg);

/* The listening socket is borrowed.  `full` may be NULL: nothing can be freed. */
struct acceptor *acceptor_new(struct loop *l, int listener, acceptor_fn fn, acceptor_full_fn full,
                              void *arg);
struct acceptor *acceptor_free(struct acceptor *a);
