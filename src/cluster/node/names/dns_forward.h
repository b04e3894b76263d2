/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Questions that others answer: the servers of the machine's resolv.conf. */
#pragma once

#include "src/base/str.h"
#include "src/loop/loop.h"

struct dns_forwarder;

/* `except` is our own address, which is never asked. */
struct dns_forwarder *dns_forwarder_new(struct loop *l, const char *except);
/* Nobody who still waits is called. */
struct dns_forwarder *dns_forwarder_free(struct dns_forwarder *f);

/* Called exactly once; an empty answer: nobody answered.  Never inside dns_forward. */
typedef void (*dns_forward_fn)(void *arg, struct str answer);
/* The handle is valid until then, or until it is cancelled. */
struct dns_query;
struct dns_query *dns_forward(struct dns_forwarder *f, struct str message, bool tcp,
                              dns_forward_fn fn, void *arg);
void dns_query_cancel(struct dns_query *q);
