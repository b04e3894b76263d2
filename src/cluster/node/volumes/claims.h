/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Claims of storage: bound to directories of this machine. */
#pragma once

#include "src/cluster/node/node_private.h"

struct claims *claims_new(struct node *n);
struct claims *claims_free(struct claims *c);

/* The directory of a bound claim, in `a`; NULL with e set (ERR_RETRY) while it is not bound. */
const char *claims_directory(struct claims *c, struct arena *a, const char *ns, const char *name,
                             struct err *e);
/* Claims or volumes have changed: bind what waits, remove what is no longer claimed. */
void claims_changed(struct claims *c);
