/* SPDX-License-Identifier: GPL-2.0-or-later */
/* JSON merge patch (RFC 7396), as the Kubernetes API applies it. */
#pragma once

#include "src/json/jsn.h"

/*
 * The target as changed by the patch, a new tree in `a`; neither argument is changed or shared.
 * Members that are null in the patch are removed.  Where the patch brings a new value, members that
 * are null are dropped inside it too, also in objects that stand in lists (here Kubernetes goes
 * further than the RFC).
 */
struct jsn *patch_merge(struct arena *a, const struct jsn *target, const struct jsn *patch);

/* Drop all members that are null, at any depth.  List items that are null stay. */
void patch_prune_nulls(struct jsn *v);
