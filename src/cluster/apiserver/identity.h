/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which store this server has, for those who follow it. */
#pragma once

#include "src/cluster/apiserver/server.h"

/* Write the store's id and epoch into an annotation of the namespace kube-system. */
int identity_tell(struct apiserver *s, struct err *e) MUST_CHECK;
