/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What libslurm's parser is shown of a slurm.conf of which most lines are known to be good. */
#pragma once

#include "src/base/buf.h"

/*
 * Append `text` with its lines of partitions that stand in `known`, word for word, made comments;
 * lines keep their numbers.  All of it where a line could mean something else than before.
 */
void parse_text_new(struct str text, struct str known, struct buf *ret);

/*
 * Do both have the same lines, save for lines of partitions and node sets, and does fn say yes to
 * each of these that does not stand in `known`?  No where a line could mean something else than
 * before.
 */
typedef bool (*parse_line_fn)(void *arg, struct str line);
bool parse_text_only_lines(struct str text, struct str known, parse_line_fn fn, void *arg);
