/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Linux capabilities by name. */
#pragma once

#include <stdint.h>

#include "src/base/str.h"

/* "NET_ADMIN" or "CAP_NET_ADMIN" to its number, or -1. */
int capability_number(const char *name);
/* "CAP_NET_ADMIN", or NULL beyond the last. */
const char *capability_name(unsigned int number);
/* What containers have that say nothing about it. */
uint64_t capability_default(void);
/* What this process may give away: its bounding set. */
uint64_t capability_own(void);
