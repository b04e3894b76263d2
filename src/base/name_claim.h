/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of clusters on this machine, each held by one state directory. */
#pragma once

#include <stdbool.h>

#include "src/base/cleanup.h"
#include "src/base/err.h"

#define NAME_CLAIM_DIR "/run/slurmkeeper"

/* Become the one who has the name; it may be taken again.  -EBUSY: another state directory that is
 * still there has it, and the error names it. */
int name_claim_take(const char *dir, const char *name, const char *state, struct err *e) MUST_CHECK;
/* Does another state directory that is still there have it?  Also true where nobody can tell. */
bool name_claim_is_anothers(const char *dir, const char *name, const char *state);
/* Give it back, if `state` has it. */
void name_claim_release(const char *dir, const char *name, const char *state);
