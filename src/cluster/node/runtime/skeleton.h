/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Directories that a container's root begins with: the machine's, without their files. */
#pragma once

#include "src/base/str.h"

struct skeleton;

/* What this machine has in /var and /home, and what every root has; `except` is left out. */
struct skeleton *skeleton_of_machine(const char *except);
struct skeleton *skeleton_free(struct skeleton *s);

/* Make them all below `root`. */
int skeleton_make(const struct skeleton *s, const char *root, struct err *e) MUST_CHECK;
