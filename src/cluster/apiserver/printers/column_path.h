/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The JSONPaths of printer columns. */
#pragma once

#include "src/json/jsn.h"

/*
 * The first value that a path leads to, or NULL: nothing there, or no path.  The paths that
 * definitions may use: ".spec.replicas", ".metadata.labels.a\.b", "['key']", "[0]", "[-1]", "[*]",
 * "[?(@.type==\"Ready\")]".  Borrowed from the object.
 */
const struct jsn *column_path_find(struct arena *a, const struct jsn *object, const char *path);
