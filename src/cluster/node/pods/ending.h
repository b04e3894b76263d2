/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How a run of a container went, as its shim left it on disk. */
#pragma once

#include <sys/types.h>

#include "src/base/process.h"
#include "src/cluster/node/pods/status.h"

/* Has the shim written how it ended, or why it did not start? */
bool ending_is_known(const char *dir);

/* Has it started?  Then its process and when; -ENOENT otherwise. */
int ending_started(const char *dir, struct process_id *ret_process,
                   int64_t *ret_started_us) MUST_CHECK;

/* Everything about the end, also where nothing is known.  Strings are owned: ending_done. */
void ending_read(struct ctr_end *end, const char *dir, const char *log, const struct ctr_spec *s,
                 const char *id);
void ending_done(struct ctr_end *end);
