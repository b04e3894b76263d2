/* SPDX-License-Identifier: GPL-2.0-or-later */
/* extraConf of a Controller, before there is a cluster. */
#pragma once

#include "src/api/problems.h"
#include "src/build/cluster.h"

/*
 * Add to `p` what build_config would find wrong with the lines of extraConf, or with files that it
 * includes: they stand in the very file that would be made.  Which nodes its partitions name is not
 * asked, since their NodeSets may come later.  `any_release`: none is known, and only what holds
 * for all is said.  Not for external Controllers.
 */
void build_check_extra(struct arena *a, const struct build_cluster *c, bool any_release,
                       struct api_problems *p);
