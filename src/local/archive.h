/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Backup files: a tar archive with a checksum at its end. */
#pragma once

#include "src/base/err.h"

/* Run `tar --create` with these arguments (NULL-terminated) and write what it gives, and the
 * checksum, to the descriptor. */
int archive_write(int fd, const char *const *args, struct err *e) MUST_CHECK;
/* -EBADMSG: it is cut, changed, or no backup. */
int archive_check(const char *path, struct err *e) MUST_CHECK;
/* Unpack into a directory that is there.  Check it first. */
int archive_unpack(const char *path, const char *dir, struct err *e) MUST_CHECK;
