/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of users by number. */
#pragma once

#include <stdint.h>

/* "alice", or "1001" for a user without a name.  Borrowed until the next call. */
const char *users_name(uint32_t uid);
