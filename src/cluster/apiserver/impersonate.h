/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Acting as somebody else, for those who may. */
#pragma once

#include "src/cluster/apiserver/call.h"

/*
 * If the request asks to be taken for another user (Impersonate-User, -Group, -Uid, -Extra-*), and
 * its user may do that, the user of the call becomes that one; what it writes is logged with both
 * names.  Fails the call otherwise.
 */
int impersonate(struct api_call *c);
