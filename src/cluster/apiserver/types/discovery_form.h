/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between the files of discovery: the forms of documents. */
#pragma once

#include "src/cluster/apiserver/types/registry.h"

enum discovery_form { DISCOVERY_LEGACY, DISCOVERY_V2BETA1, DISCOVERY_V2 };

/* Aggregated: the core group, or all the others. */
struct jsn *discovery_aggregated(struct arena *a, const struct registry *reg, bool core,
                                 enum discovery_form form);

/* Legacy: one group and version; one group (NULL: none of that name); all groups but the core's. */
struct jsn *discovery_resource_list(struct arena *a, const struct registry_gv *gv);
struct jsn *discovery_group(struct arena *a, const struct registry *reg, struct str group);
struct jsn *discovery_group_list(struct arena *a, const struct registry *reg);

struct jsn *discovery_strings(struct arena *a, const char *const *list);
