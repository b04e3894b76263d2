/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which kinds the operator watches, and how much it keeps of each. */
#pragma once

#include "src/kube/cache.h"

/* NEEDED: nothing is done before they are there.  AWAITED: nor before they are known, or known not
 * to be served.  OWNED: found by their owners. */
enum { SIGHT_NEEDED = 1, SIGHT_OWNED = 2, SIGHT_AWAITED = 4 };

struct world_sight {
    const char *kind;
    unsigned flags;
    const char *selector;
    const struct kube_decoder *decoder;
    bool keep_text;
    const struct kube_index *indexes;
};

extern const struct world_sight world_sights[];
extern const size_t world_n_sights;
