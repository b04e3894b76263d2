/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading a container's log: which lines, and in what form. */
#pragma once

#include "src/base/buf.h"

/* What kubectl logs asks for; zeros ask for everything. */
struct log_query {
    int64_t tail; /* the last so many lines; 0: all (none_at_all below asks for none) */
    bool none_at_all;
    int64_t since_us; /* wall clock */
    bool timestamps;
    int64_t limit_bytes;
};

/* One line of a log file, taken apart. */
struct log_line {
    struct str time;
    struct str text;
    bool partial; /* the line of output goes on in the next one */
    bool is_stderr;
};
/* False: not a line of a log. */
bool log_line_parse(struct str line, struct log_line *ret);

/* Append what the query wants to see of one line of a file.  *mid_line: the last one was partial.
 */
void log_line_print(const struct log_query *q, const struct log_line *l, bool *mid_line,
                    struct buf *out);

/* Everything in the log now, rotated files first.  A log that is not there is empty. */
int log_lines_read(const char *path, const struct log_query *q, struct buf *out) MUST_CHECK;
