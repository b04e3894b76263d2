/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Acting as somebody else, for those who may. */
#pragma once

#include "src/cluster/apiserver/call.h"

struct rbac_request;

/*
 * If the request asks to be taken for another user (Impersonate-User, -Group, -Uid, -Extra-*), and
 * its user may do that, the user of the call becomes that one; what it writes is logged with both
 * names.  Fails the call otherwise.  `asked` is what the request wants.
 */
int impersonate(struct api_call *c, const struct rbac_request *asked);
