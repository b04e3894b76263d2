/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Objects as they are against objects as they should be. */
#pragma once

#include "src/json/jsn.h"

/*
 * Does `observed` hold all that `desired` says?  An API server adds defaults and writes quantities
 * in its own way: members that only `observed` has do not count, nor does the spelling of a
 * quantity.  Lists must have the same length, item for item.  Absent, null and empty are one.
 */
bool compare_covers(const struct jsn *observed, const struct jsn *desired);

/*
 * The merge patch that makes `desired` of `observed`, with null for members that only `observed`
 * has; a tree in `a` that shares parts of `desired`.  NULL: they are equal.
 */
struct jsn *compare_patch(struct arena *a, const struct jsn *observed, const struct jsn *desired);
