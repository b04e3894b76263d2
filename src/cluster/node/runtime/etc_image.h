/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The /etc that containers begin with: the machine's, without its secrets. */
#pragma once

#include "src/base/str.h"

/*
 * Make `to` a copy of `from` ("/etc"); what is there already and unchanged is left alone, what may
 * no longer be in it goes.
 */
int etc_image_sync(const char *from, const char *to, struct err *e) MUST_CHECK;

/* A copy of an entry of such an image: a file, a link or a directory with all that is in it. */
int etc_image_copy(const char *from, const char *to, struct err *e) MUST_CHECK;
