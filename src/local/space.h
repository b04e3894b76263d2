/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Room on the disk that holds a cluster's state. */
#pragma once

#include "src/base/err.h"

#define SPACE_TO_START ((int64_t)16 << 20) /* an empty cluster's objects, certificates and logs */
#define SPACE_TO_RUN ((int64_t)2 << 20)    /* less than that is as good as full */

/* -ENOSPC if less is left where `path` is, or will be; what cannot be measured has room. */
int space_check(const char *path, int64_t wanted_bytes, struct err *e) MUST_CHECK;
