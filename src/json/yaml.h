/* SPDX-License-Identifier: GPL-2.0-or-later */
/* YAML to JSON values and back, as Kubernetes' tools read and write it. */
#pragma once

#include "src/json/jsn.h"

#define YAML_MAX_BYTES ((size_t)16 << 20)
#define YAML_MAX_DEPTH 128
#define YAML_MAX_ALIASED 400000 /* nodes that aliases and merge keys may add, a text over */

/*
 * Parse a YAML (or JSON) text into values in `a`.
 *
 * Scalars mean what kubectl takes them for (YAML 1.1): yes, no, on, off, y, n are booleans; ~ and
 * the empty scalar are null; integers may be 0x, 0o, 0b, octal with a leading 0, with underscores;
 * a time stays a string; .inf and .nan are refused, as JSON has none.  Keys that are numbers or
 * booleans become strings.  Merge keys (<<) fill in what the mapping does not say itself.
 *
 * A key that stands twice is an error that names its line; with `notes` it is listed there instead
 * and the last one wins.  Text above YAML_MAX_BYTES, deeper than YAML_MAX_DEPTH or with aliases
 * that add more than YAML_MAX_ALIASED nodes is refused.
 *
 * yaml_parse takes one document (an empty text is null); documents after it must be empty.
 * yaml_parse_all gives an array of all documents that are not empty.
 */
int yaml_parse(struct arena *a, struct str text, struct jsn_notes *notes, struct jsn **ret_value,
               struct err *e) MUST_CHECK;
int yaml_parse_all(struct arena *a, struct str text, struct jsn_notes *notes,
                   struct jsn **ret_array, struct err *e) MUST_CHECK;

/*
 * Print a value in block style, ending with a line break.  Strings are quoted only where a reader
 * would take them for something else; those of several lines become | blocks.
 */
void yaml_print(struct buf *b, const struct jsn *v);
