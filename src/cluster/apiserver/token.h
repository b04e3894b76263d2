/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tokens for service accounts. */
#pragma once

#include "src/cluster/apiserver/call.h"

/* POST serviceaccounts/NAME/token. */
void token_serve(struct api_call *c);
