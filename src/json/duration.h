/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Durations as Kubernetes writes them: 30m, 1h15m, 1.5s, 300ms. */
#pragma once

#include "src/base/buf.h"

/* The whole text, to milliseconds (finer ones are cut off).  -EINVAL if it is none or too long. */
int duration_parse(struct str text, int64_t *ret_ms) MUST_CHECK;

/* As Go prints it: 1h15m0s, 1.5s, 300ms, 0s. */
void duration_print(struct buf *b, int64_t ms);
