/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Acts on a container for probes and hooks: a command in it, a request to it. */
#pragma once

#include "src/cluster/node/pods/pod_spec.h"

struct container;
struct handler_run;

/* Called exactly once unless cancelled; the run is gone.  `output` is what people may want to
 * read. */
typedef void (*handler_done_fn)(void *arg, bool ok, const char *output);

/* Nothing is called back inside. */
struct handler_run *handler_start(struct container *c, const struct handler_spec *h,
                                  int64_t timeout_ms, handler_done_fn done, void *arg);
/* NULL-safe. */
struct handler_run *handler_cancel(struct handler_run *r);
