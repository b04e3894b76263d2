/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What slurmd's container needs of the kernel, for nodes that can give it just that. */
#pragma once

#include "src/api/nodeset.h"

/* The annotation that tells a node so: this, followed by the name of the container. */
#define ANNOTATION_CONFINE "confine." API_OWN_GROUP "/"

/*
 * The value of the annotation, "CHOWN,KILL,...", with what the NodeSet adds and drops; in `a`. NULL
 * if the NodeSet itself says that slurmd is to be privileged.
 */
const char *worker_confinement(struct arena *a, const struct nodeset *ns);
