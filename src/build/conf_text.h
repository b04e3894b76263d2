/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The text of a configuration file, line by line, with the field that each line comes from. */
#pragma once

#include "src/base/arena.h"
#include "src/base/buf.h"

/* Where lines come from, up to the next one. */
struct conf_origin {
    unsigned line;      /* first one, from 1 */
    const char *object; /* "NodeSet slurm/gpu"; NULL: made here */
    const char *field;  /* "spec.extraConf" */
    bool counted;       /* the field has lines of its own: name them in messages */
};

/* {.arena = a} is a valid empty text. */
struct conf_text {
    struct arena *arena;
    struct buf text;
    unsigned lines;
    struct conf_origin *origins;
    size_t n;
    size_t cap;
};

void conf_text_done(struct conf_text *t);
DEFINE_AUTO_DONE(struct conf_text, conf_text_done);

/* One line, without its line break. */
void conf_text_line(struct conf_text *t, const char *fmt, ...) PRINTF(2, 3);
/* "#" and "### TITLE ###" */
void conf_text_header(struct conf_text *t, const char *title);
/* A text of several lines as it stands; a missing last line break is added. */
void conf_text_block(struct conf_text *t, const char *text);

/* Whatever is added from here on comes from this field; NULL: from nobody.  Strings are borrowed.
 */
void conf_text_origin(struct conf_text *t, const char *object, const char *field, bool counted);
/* The origin of a line. */
const struct conf_origin *conf_text_find(const struct conf_text *t, unsigned line);
