/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reviews: questions about identities and rights, which are answered and never stored. */
#pragma once

#include "src/cluster/apiserver/call.h"

/* Is this a resource that is only ever asked, never stored? */
bool review_is(const struct resource *res);
/* POST of a review: fills in its status. */
void review_serve(struct api_call *c);

/* The status of a SubjectAccessReview, and of its kin for oneself and for one namespace. */
int review_access(struct api_call *c, struct jsn *review);
