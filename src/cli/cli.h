/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command line: verbs and options as tables, from which parsing, help, manual and completion
 * come. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "src/base/buf.h"

/* One option.  Without `value` it is a flag. */
struct cli_option {
    const char *name;     /* "state": written --state */
    const char *value;    /* "DIR": what stands after it; NULL: a flag */
    const char *help;     /* one sentence */
    const char *standard; /* shown as the default; NULL: none */
    bool many;            /* may be given more than once */
};

struct cli_args;

struct cli_verb {
    const char *name;
    const char *operands;             /* "[FILE...]", or NULL: none are taken */
    const char *summary;              /* one line, for the list of verbs */
    const char *text;                 /* paragraphs for the manual, or NULL */
    const struct cli_option *options; /* ends with a NULL name; NULL: none */
    /* Returns the exit status. */
    int (*run)(const struct cli_args *args);
};

/* All verbs, ending with a NULL name; defined in verbs.c. */
extern const struct cli_verb cli_verbs[];
/* Options that every verb takes. */
extern const struct cli_option cli_common_options[];

/* What was given: the (i-th) value of an option, NULL if it was not; "" for a flag. */
const char *cli_get(const struct cli_args *args, const char *name);
const char *cli_get_at(const struct cli_args *args, const char *name, size_t i);
bool cli_has(const struct cli_args *args, const char *name);
size_t cli_operands(const struct cli_args *args, const char *const **ret_operands);

/* A value as a number in a range; says what is wrong and returns false otherwise. */
bool cli_get_i64(const struct cli_args *args, const char *name, int64_t least, int64_t most,
                 int64_t *value);

/* "slurmkeeper: text" on standard error; returns the exit status for a usage error (2). */
int cli_usage_error(const char *fmt, ...) PRINTF(1, 2);
/* The same for a failure (1). */
int cli_failure(const char *fmt, ...) PRINTF(1, 2);

/* Parse and run; the process's exit status. */
int cli_main(int argc, char **argv);

/* How an option may be written in short ("-f"); NULL: not at all. */
const char *cli_brief(const char *name);

void cli_print_help(struct buf *b, const struct cli_verb *verb);
void cli_print_overview(struct buf *b);
void cli_print_manual(struct buf *b);     /* scdoc source of slurmkeeper(1) */
void cli_print_completion(struct buf *b); /* for bash */
