/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where containers keep what they write over the machine's own files. */
#pragma once

#include <stdbool.h>

#include "src/base/cleanup.h"
#include "src/base/err.h"

enum layers_place { LAYERS_ON_DISK, LAYERS_IN_MEMORY };

/*
 * Find a place that the kernel takes for the upper layers of overlays, by trying: in the state
 * directory, unless it is `inside` a directory that containers see; else in memory.  -EOPNOTSUPP
 * where neither works.
 */
int layers_find(const char *state_dir, bool inside, enum layers_place *ret,
                struct err *e) MUST_CHECK;

/* Make DIR/layers; one that is there is kept. */
int layers_make(enum layers_place place, const char *dir, struct err *e) MUST_CHECK;
/* Remove it, wherever it is.  Nothing may run on it any more. */
int layers_remove(const char *dir, struct err *e) MUST_CHECK;
