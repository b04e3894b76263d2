/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The programs that the node needs: the runtime, the shim, what containers find of ours. */
#pragma once

#include "src/cluster/node/node_private.h"

/* Sets n->runtime and n->shim. */
int programs_find(struct node *n, struct err *e) MUST_CHECK;
/* Sets n->rootfs, with our programs and start scripts in it. */
int programs_rootfs(struct node *n, const struct node_options *o, struct err *e) MUST_CHECK;
