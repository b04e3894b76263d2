/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Questions about identity: service account tokens, access reviews, who am I. */
#pragma once

#include "src/cluster/apiserver/call.h"

/* POST serviceaccounts/NAME/token. */
void token_serve(struct api_call *c);

/* Is this a resource that is only ever asked, never stored (reviews)? */
bool review_is(const struct resource *res);
/* POST of a review: fills in its status. */
void review_serve(struct api_call *c);
