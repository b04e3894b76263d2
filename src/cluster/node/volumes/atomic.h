/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A directory whose files change all at once, as a kubelet keeps it. */
#pragma once

#include "src/cluster/node/volumes/payload.h"

/*
 * Make `dir` hold exactly the payload.  `group` (or -1) owns the files.  *ret_changed tells whether
 * anything was written.  On failure what was there stays.
 */
int atomic_write(const char *dir, const struct payload *p, int64_t group, bool *ret_changed,
                 struct err *e) MUST_CHECK;
