/* SPDX-License-Identifier: GPL-2.0-or-later */
/* JSON patch (RFC 6902) and JSON pointers (RFC 6901), as the Kubernetes API applies them. */
#pragma once

#include "src/json/jsn.h"

#define PATCH_JSON_MAX_OPERATIONS 10000
#define PATCH_JSON_MAX_COPY_BYTES                                                                  \
    ((size_t)3                                                                                     \
     << 20) /* that all copy operations together may add                                 \
                       */

/*
 * Apply a list of operations to a copy of the target; on success *ret_value is a new tree in `a`.
 * All operations apply or none does.
 *
 *   -EINVAL     the patch is malformed (400)
 *   -E2BIG      too many operations, copies of too much, or a result nested too deep (413)
 *   -ECANCELED  it does not apply to this target: a path is missing, a test failed (422)
 *
 * As in Kubernetes, replacing a member that is not there adds it, an index may be negative (from
 * the end), and a member that is not there equals null to `test`.
 */
int patch_json(struct arena *a, const struct jsn *target, const struct jsn *patch,
               struct jsn **ret_value, struct err *e) MUST_CHECK;
