/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which system calls a container may not make; pure. */
#pragma once

#include "src/json/jsn.h"

/*
 * linux.seccomp of config.json for a container with these capabilities (by bit), in `a`. Everything
 * is allowed but what no program in a container needs, and what its capabilities do not cover.
 * No container makes a file that runs with its owner's rights.
 */
struct jsn *seccomp_profile(struct arena *a, uint64_t capabilities);
