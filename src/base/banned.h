/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions that are too easy to use wrongly; forced into every file by the build. */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* With clang the C library's fortified headers make macros of some of them, which cannot be
 * poisoned: the check is gcc's, and CI builds with it. */
#ifndef __clang__
#pragma GCC poison strcpy strcat strncpy strncat sprintf vsprintf strtok atoi atol atoll
#pragma GCC poison strtol strtoll strtoul strtoull system popen gets
#endif
