/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which directories may be shared with pods. */
#pragma once

#include "src/base/err.h"

/* -EINVAL if one of `shares`, all that pods would see (NULL-terminated, or NULL), has the state
 * directory in it or lies in that, or leads out of, or through, another one by a link. */
int share_rules_check(const char *state, char *const *shares, struct err *e) MUST_CHECK;

/* The share in which a program lies that root runs on the machine: jobs could exchange it; NULL if
 * there is none. */
const char *share_rules_program(const char *program, char *const *shares);
