/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside of struct conf, for conf.c and its parser. */
#pragma once

#include "src/base/arena.h"
#include "src/slurm/conf.h"

struct conf {
    enum conf_kind kind;
    struct arena arena;
    struct conf_line *lines;
    size_t n;
    size_t cap;
};

/* What conf_lex_pair found. */
struct conf_token {
    struct str key;
    struct str value;
    char op;
};

/*
 * Take the next `key=value` off the front of *rest, as Slurm's own expression does: blanks around
 * the '=', a value in double quotes that a blank or the end follows, or one without blanks.  False
 * if *rest does not start with a pair; *rest then stays.
 */
bool conf_lex_pair(struct str *rest, struct conf_token *ret_token);

/*
 * Take the next logical line off *rest: comments dropped, continued lines joined, escapes undone,
 * in `line`.  *lines counts the physical lines it took.  False at the end.
 */
bool conf_lex_line(struct str *rest, struct buf *line, unsigned *lines);
