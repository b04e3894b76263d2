/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Generic resources of a NodeSet's nodes, and whether slurmctld knows their kinds. */
#pragma once

#include "src/api/controller.h"
#include "src/api/nodeset.h"

/* The first kind of Gres in the NodeSet's extraConf that GresTypes of its Controller does not name;
 * slurmctld leaves such out without a word.  In `a`.  NULL: there is none, or the Controller's
 * settings are not all known, since it includes files. */
const char *node_gres_unknown(struct arena *a, const struct nodeset *ns,
                              const struct controller *c);

/* Warn of one. */
void nodeset_check_gres(const struct nodeset *ns, const struct api_lookup *l,
                        struct api_problems *p);
