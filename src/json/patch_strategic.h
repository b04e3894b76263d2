/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Strategic merge patch: a merge patch that knows how lists merge. */
#pragma once

#include "src/json/schema.h"

/*
 * The original as changed by the patch, a new tree in `a`; neither argument is changed or shared.
 *
 * `schema` is that of the object (its nodes' patch bits and patch_key decide); below what it does
 * not describe, objects merge and lists are replaced.  Directives: "$patch": "replace" or "delete"
 * in an object, "$patch": "delete" or "replace" in a list item, "$deleteFromPrimitiveList/x",
 * "$setElementOrder/x", "$retainKeys".  null removes a member.
 *
 * Order of a merged list: items named by $setElementOrder (or else by the patch) stand in its
 * order, all others in their old order, and where both claim the same place the old order decides.
 *
 * -EINVAL and kube-apiserver's text when a directive or a list is malformed.
 */
int patch_strategic(struct arena *a, const struct schema *schema, const struct jsn *original,
                    const struct jsn *patch, struct jsn **ret_value, struct err *e) MUST_CHECK;
