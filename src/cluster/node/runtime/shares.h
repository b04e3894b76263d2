/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Directories of the machine that all containers may write, and what lies in them. */
#pragma once

#include <stddef.h>

#include "src/base/err.h"

/* The list without those that lie in another of the list; owned, NULL-terminated. */
char **shares_outer(const char *const *list);

/* How much of `path` names a share that it lies below; 0 if it lies in none.  A share that is a
 * link is known by what it leads to, too. */
size_t shares_above(char *const *shares, const char *path);

/* -EINVAL if `path`, which lies in no share by its name, leads through one by a link: root in a pod
 * could have it lead anywhere. */
int shares_keep_out(char *const *shares, const char *path, struct err *e) MUST_CHECK;
