/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The Slurms that pods of a cluster may run, by release: STATE/slurms (see the node's slurms.c). */
#pragma once

#include "src/local/install.h"

/* Have it in the list: a line "RELEASE PREFIX".  What is no longer there leaves it. */
int slurms_note(const char *state, const struct install *i, struct err *e) MUST_CHECK;
