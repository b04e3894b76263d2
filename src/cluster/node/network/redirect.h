/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Descriptors of a child between fork and exec. */
#pragma once

#include <fcntl.h>
#include <unistd.h>

/* Make `to` a copy of `from`; a child that cannot have its streams does not run. */
static inline void redirect(int from, int to)
{
    if (from < 0 || (from == to ? fcntl(to, F_SETFD, 0) : dup2(from, to)) < 0)
        _exit(126);
}
