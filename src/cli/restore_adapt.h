/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A restored store in another place than it was made in. */
#pragma once

#include "src/cluster/apiserver/store_place.h"

/* A machine and a state directory. */
struct restore_site {
    const char *host;
    const char *state;
};

/*
 * Take out what is not here: Nodes of another machine, and pods that were bound to one or that ran
 * from another directory; their owners make them again.  Volumes of claims follow the directory.
 * Commits.  *ret_dropped and *ret_moved: how many.
 */
int restore_adapt(struct store *s, const struct restore_site *from, const struct restore_site *to,
                  size_t *ret_dropped, size_t *ret_moved, struct err *e) MUST_CHECK;
