/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CustomResourceDefinitions from the tables of our kinds. */
#pragma once

#include "src/api/kinds.h"

/*
 * The definition of a kind, a tree in `a`.  `rules`: with rules in CEL, which Kubernetes knows from
 * 1.25 on (older kubectls refuse them as unknown fields).
 */
struct jsn *api_crd(struct arena *a, const struct api_kind *kind, bool rules);

/* One kind, or all of them (NULL), as YAML documents. */
void api_print_crds(struct buf *b, const struct api_kind *kind, bool rules);

/* The file that keeps the definition in deploy/crds: "slinky.slurm.net_nodesets.yaml"; in `a`. */
const char *api_crd_file(struct arena *a, const struct api_kind *kind);
