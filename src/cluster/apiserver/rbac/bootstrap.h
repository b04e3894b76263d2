/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The roles and bindings that every server has: made at the start, and kept. */
#pragma once

#include "src/base/err.h"

struct apiserver;

/* Make what is missing, and add what is missing in what is there. */
int rbac_bootstrap(struct apiserver *s, struct err *e) MUST_CHECK;
