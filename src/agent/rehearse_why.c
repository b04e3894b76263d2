/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Why a rehearsal's slurmctld ended, by what it said.
 *
 * The last line that it calls fatal says why, or else its last error.  One fatal line says nothing:
 * "Unable to process configuration file" comes after the error that tells, and after which Slurm
 * has only counted.
 */
#include "src/agent/rehearse.h"

#include "src/base/alloc.h"

static bool says_nothing(struct str words)
{
    return str_eqz(str_trim(words), "fatal: Unable to process configuration file");
}

/* The rest of the line from a word on; nothing if the line does not have it. */
static struct str from(struct str line, const char *word)
{
    AUTO(free) char *text = str_dup(line);
    const char *at = strstr(text, word);

    return at ? (struct str){line.p + (at - text), line.n - (size_t)(at - text)} : (struct str){0};
}

struct str rehearse_why(struct str said)
{
    struct str fatal = {0};
    struct str error = {0};
    struct str line;

    while (str_split(&said, '\n', &line)) {
        struct str words = from(line, "fatal: ");

        if (words.n && !(fatal.n && says_nothing(words)))
            fatal = words;
        words = words.n ? words : from(line, "error: ");
        if (words.n && starts_with(words.p, "error: "))
            error = words;
    }
    return fatal.n == 0 || (says_nothing(fatal) && error.n) ? error : fatal;
}
