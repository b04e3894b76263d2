/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Features of a NodeSet's nodes: its own name, and those of its extraConf. */
#pragma once

#include "src/api/nodeset.h"

struct conf;

/* extraConf of a NodeSet as one NodeName line; NULL: it cannot be read.  Owned by the caller. */
struct conf *node_conf_parse(const char *extra_conf);

/* Of one node, its NodeSet's name among them. */
#define NODE_FEATURES_MAX 128

/* Are there more than a node can have? */
void nodeset_check_features(const struct nodeset *ns, struct api_problems *p);

/* The other NodeSet of its cluster whose name is among these features, or NULL.  In `a`. */
const char *nodeset_feature_rival(struct arena *a, const struct nodeset *ns,
                                  const struct api_lookup *l);

/* No NodeSet's nodes may have the name of another as a feature: they would join its partition.
 * `old` is NULL for a new one; what was accepted is not asked about again. */
void nodeset_check_feature_names(const struct nodeset *ns, const struct nodeset *old,
                                 const struct api_lookup *l, struct api_problems *p);
