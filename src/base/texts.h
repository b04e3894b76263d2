/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists of texts that end with a NULL. */
#pragma once

#include "src/base/cleanup.h"

/* An owned copy; NULL gives an empty list. */
char **texts_copy(const char *const *list);
/* The list with its texts; NULL-safe.  Returns NULL. */
char **texts_free(char **list);
