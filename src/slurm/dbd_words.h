/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What slurmdbd and its database say of themselves in their logs. */
#pragma once

#include "src/base/str.h"

/* What keeps slurmdbd from its work. */
struct dbd_words {
    const char *reason; /* one word, for a condition; NULL: the log tells of no trouble */
    const char *text;   /* a sentence */
    struct str line;    /* the line that tells it, without its time; in the log */
};

/* Read the end of a log, the last word counts. */
struct dbd_words dbd_words_read(struct str log);
