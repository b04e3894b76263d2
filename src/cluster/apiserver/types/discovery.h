/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Discovery: which groups, versions and resources there are, in the forms that clients ask for. */
#pragma once

#include "src/cluster/apiserver/types/document.h"

struct discovery;

/*
 * `address` is what clients outside are told ("127.0.0.1:6443"), borrowed; NULL says nothing.  The
 * registry is borrowed, too.
 */
struct discovery *discovery_new(const struct registry *reg, const char *address);
struct discovery *discovery_free(struct discovery *d);
DEFINE_AUTO(struct discovery, discovery_free);

/*
 * The document of a path: /api, /apis, /api/v1, /apis/GROUP, /apis/GROUP/VERSION; a '/' at its end
 * does not matter.  `accept` (may be NULL) chooses the aggregated form of /api and /apis where it
 * asks for it.  NULL: there is no such path, a 404.
 */
const struct document *discovery_get(struct discovery *d, struct str path, const char *accept);
