/* SPDX-License-Identifier: GPL-2.0-or-later */
/* JSON text, laid out for people while it goes by. */
#pragma once

#include "src/base/buf.h"

/* Where in the text the last piece ended; zeroed, it is at the start. */
struct jsn_indent {
    size_t depth;
    bool in_string;
    bool escaped; /* the last byte was a backslash in a string */
    bool opened;  /* the last byte was "{" or "[" */
};

/* Add a piece of correct JSON text to `out`, a member or an item a line, two blanks for each level.
 * Pieces may end anywhere.  There is no line end at the end. */
void jsn_indent(struct jsn_indent *at, struct buf *out, struct str text);
