/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Paths into values (JSONPath), as CRDs use them for columns and scale. */
#pragma once

#include "src/json/jsn.h"

/* Compiled; lives in an arena. */
struct path;

/*
 * Compile a path: .spec.replicas, .metadata.annotations.a\.b, ['key'], ["key"], [0], [-1], [1:3],
 * [*], .*,
 * ..name, [?(@.type=="Ready")], [?(@.port>80)], [?(@.name)]; with or without {} around it and $
 * before it.  The error names the place.
 */
int path_compile(struct arena *a, const char *text, struct path **ret_path,
                 struct err *e) MUST_CHECK;

/* Everything the path names, in order, as an array in `a`; the items are those of v, not copies. */
struct jsn *path_find(struct arena *a, const struct path *p, const struct jsn *v);

/* The first of them, or NULL. */
const struct jsn *path_first(const struct path *p, const struct jsn *v);
