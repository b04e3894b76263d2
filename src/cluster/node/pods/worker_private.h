/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files about a pod share: its beginning and its end, as worker.c begins them. */
#pragma once

#include "src/cluster/node/pods/worker.h"

/* Each begins its work, wakes the worker when it is done, and sets retry_ms if it failed. */
void worker_make_volumes(struct worker *w);
void worker_make_sandbox(struct worker *w);
/* What a sandbox tells its worker. */
struct sandbox_events worker_sandbox_events(struct worker *w);

/* Give back what is left of a pod whose containers have ended; may be called again. */
void worker_release(struct worker *w);
