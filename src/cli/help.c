/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Help, manual and completion, from the tables of verbs and options.
 */
#include <stdio.h>

#include "src/base/alloc.h"
#include "src/cli/cli.h"

#define HELP_COLUMN 30
#define HELP_WIDTH 100

/* Words from column `at` on, in lines that begin at `indent`. */
static void add_wrapped(struct buf *b, const char *text, size_t at, size_t indent)
{
    struct str rest = str_of(text);
    struct str word;
    bool first = true;

    while (str_split(&rest, ' ', &word)) {
        if (!first && at + 1 + word.n > HELP_WIDTH) {
            buf_printf(b, "\n%*s", (int)indent, "");
            at = indent;
        } else if (!first) {
            buf_addc(b, ' ');
            at++;
        }
        buf_addstr(b, word);
        at += word.n;
        first = false;
    }
    buf_addc(b, '\n');
}

void cli_print_overview(struct buf *b)
{
    buf_adds(b, "slurmkeeper " SLURMKEEPER_VERSION
                ": Slurm clusters as declared state, applied in milliseconds\n\n"
                "Usage: slurmkeeper VERB [OPTION]... [OPERAND]...\n\nVerbs:\n");
    for (const struct cli_verb *v = cli_verbs; v->name; v++)
        buf_printf(b, "  %-14s %s\n", v->name, v->summary);
    buf_adds(b, "\n'slurmkeeper VERB --help' tells more about each.\n");
}

static void print_option(struct buf *b, const struct cli_option *o)
{
    size_t start = b->n;
    const char *brief = cli_brief(o->name);
    AUTO(free)
    char *text = xasprintf("%s%s%s%s", o->help, o->standard ? " (default: " : "",
                           o->standard ? o->standard : "", o->standard ? ")" : "");

    buf_printf(b, "  %s%s--%s%s%s", brief ? brief : "", brief ? ", " : "    ", o->name,
               o->value ? " " : "", o->value ? o->value : "");
    if (b->n - start >= HELP_COLUMN)
        buf_printf(b, "\n%*s", HELP_COLUMN, "");
    else
        buf_printf(b, "%*s", (int)(HELP_COLUMN - (b->n - start)), "");
    add_wrapped(b, text, HELP_COLUMN, HELP_COLUMN);
}

void cli_print_help(struct buf *b, const struct cli_verb *verb)
{
    buf_printf(b, "slurmkeeper %s: %s\n\nUsage: slurmkeeper %s [OPTION]...%s%s\n", verb->name,
               verb->summary, verb->name, verb->operands ? " " : "",
               verb->operands ? verb->operands : "");
    if (verb->text) {
        buf_addc(b, '\n');
        add_wrapped(b, verb->text, 0, 0);
    }
    buf_adds(b, "\nOptions:\n");
    for (const struct cli_option *o = verb->options; o && o->name; o++)
        print_option(b, o);
    for (const struct cli_option *o = cli_common_options; o->name; o++)
        print_option(b, o);
}

/* scdoc reads '_' and '*' as emphasis. */
static void add_plain(struct buf *b, const char *text)
{
    for (; *text; text++) {
        if (*text == '_' || *text == '*' || *text == '\\')
            buf_addc(b, '\\');
        buf_addc(b, *text);
    }
}

static void manual_option(struct buf *b, const struct cli_option *o)
{
    if (cli_brief(o->name))
        buf_printf(b, "*%s*, ", cli_brief(o->name));
    buf_printf(b, "*--%s*", o->name);
    if (o->value)
        buf_printf(b, " _%s_", o->value);
    buf_adds(b, "\n\t");
    add_plain(b, o->help);
    buf_adds(b, ".");
    if (o->standard) {
        buf_adds(b, " Default: ");
        add_plain(b, o->standard);
        buf_addc(b, '.');
    }
    buf_adds(b, "\n\n");
}

static void manual_verb(struct buf *b, const struct cli_verb *v)
{
    buf_printf(b, "## %s%s%s\n\n", v->name, v->operands ? " " : "", v->operands ? v->operands : "");
    add_plain(b, v->summary);
    buf_adds(b, ".\n\n");
    if (v->text) {
        add_plain(b, v->text);
        buf_adds(b, "\n\n");
    }
    for (const struct cli_option *o = v->options; o && o->name; o++)
        manual_option(b, o);
}

void cli_print_manual(struct buf *b)
{
    buf_adds(b, "slurmkeeper(1)\n\n# NAME\n\nslurmkeeper - Slurm clusters as declared state\n\n"
                "# SYNOPSIS\n\n*slurmkeeper* _VERB_ [_OPTION_]... [_OPERAND_]...\n\n"
                "# DESCRIPTION\n\n"
                "slurmkeeper keeps Slurm clusters as Kubernetes objects declare them. It brings a "
                "small Kubernetes of its own for one machine, and runs on any other.\n\n"
                "# VERBS\n\n");
    for (const struct cli_verb *v = cli_verbs; v->name; v++)
        manual_verb(b, v);
    buf_adds(b, "# COMMON OPTIONS\n\n");
    for (const struct cli_option *o = cli_common_options; o->name; o++)
        manual_option(b, o);
    buf_adds(b, "# ENVIRONMENT\n\n*SLURMKEEPER\\_LOG*\n\tHow much is logged: error, warn, info or "
                "debug. Default: info.\n\n"
                "# EXIT STATUS\n\n0 on success, 1 on failure, 2 on a usage error.\n");
}

static void completion_options(struct buf *b, const struct cli_option *list)
{
    for (; list && list->name; list++)
        buf_printf(b, " --%s", list->name);
}

void cli_print_completion(struct buf *b)
{
    buf_adds(b, "# bash completion of slurmkeeper\n_slurmkeeper()\n{\n"
                "    local word=${COMP_WORDS[COMP_CWORD]} verb=${COMP_WORDS[1]} words\n"
                "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n        words=\"");
    for (const struct cli_verb *v = cli_verbs; v->name; v++)
        buf_printf(b, "%s ", v->name);
    buf_adds(b, "help\"\n    else\n        case $verb in\n");
    for (const struct cli_verb *v = cli_verbs; v->name; v++) {
        buf_printf(b, "        %s) words=\"", v->name);
        completion_options(b, v->options);
        completion_options(b, cli_common_options);
        buf_adds(b, "\" ;;\n");
    }
    buf_adds(b, "        esac\n    fi\n"
                "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")\n}\n"
                "complete -o default -F _slurmkeeper slurmkeeper\n");
}
