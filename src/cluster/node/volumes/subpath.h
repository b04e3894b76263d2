/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A part of a volume, held fast, so that nobody can put something else in its place. */
#pragma once

#include "src/base/str.h"

/*
 * Bind what is at `sub` below the volume `root` to `pin`, whose parent directory is made; a missing
 * directory is made, for everybody to write and owned by `group` unless that is negative.
 * Links are followed as long as they stay inside of the volume.  A pin that is there is replaced.
 */
int subpath_pin(const char *root, const char *sub, int64_t group, const char *pin,
                struct err *e) MUST_CHECK;

/* Make a directory, or an empty file, below `root`, and the directories on the way: root's, for
 * everybody to read.  Never outside of `root`, whatever links are there. */
int subpath_make(const char *root, const char *sub, bool is_file, struct err *e) MUST_CHECK;

/* Let go of all pins in a directory, and remove it.  What they held is not touched. */
void subpath_release(const char *dir);
