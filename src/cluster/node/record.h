/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Small files about what runs: they need not survive the machine, since what they tell of does not.
 */
#pragma once

#include <sys/types.h>

#include "src/base/str.h"

/* Replace a file by rename, so that readers see the old one or the new one; not synced to disk. */
int record_write(const char *path, struct str content, mode_t mode, struct err *e) MUST_CHECK;
