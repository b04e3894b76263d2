/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Texts that stand in one line wherever Slurm shows them: reasons, comments. */
#pragma once

#include "src/base/arena.h"

#define LINE_TEXT_MAX_BYTES 1024

/* What is wrong with it, for a sentence that begins with its name; NULL: nothing. */
const char *line_text_fault(struct str text);
/* As above, of a reason or a comment: they may not be long, either. */
const char *line_text_reason_fault(struct str text);
/* A text that somebody else gave Slurm, fit to be shown: each control character is a '?', and what
 * is too long ends in "...".  In `a`; NULL stays NULL. */
const char *line_text_clean(struct arena *a, const char *text);
