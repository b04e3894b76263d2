/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The machine's table of mounts. */
#pragma once

#include <stdbool.h>

#include "src/base/str.h"

/* Calls fn for each mount point, in the order of mounting; stops when it returns false. */
typedef bool (*mounts_fn)(void *arg, const char *path, const char *fs_type);
int mounts_each(mounts_fn fn, void *arg, struct err *e) MUST_CHECK;
/* The same for another table, in the form of /proc/self/mountinfo. */
int mounts_each_in(const char *table, mounts_fn fn, void *arg, struct err *e) MUST_CHECK;

/* Is something mounted exactly there? */
bool mounts_is_one(const char *path);
/* Detach every mount at or below `dir`, the innermost first. */
void mounts_detach_below(const char *dir);
