/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Options: one table, from which parsing and help come.
 *
 * The defaults are those of the controller pod, so that there the program needs no options at all.
 */
#include "src/agent/options.h"

struct option_row {
    const char *name;
    const char *value;
    size_t at; /* in struct agent_options */
    const char *standard;
    const char *help;
};

#define ROW(name, value, member, standard, help)                                                   \
    {name, value, offsetof(struct agent_options, member), standard, help}

static const struct option_row rows[] = {
    ROW("--live", "DIR", live, "/etc/slurm", "the files that slurmctld reads; written here"),
    ROW("--mount", "DIR", mount, "/mnt/slurm", "the declared files as they are mounted"),
    ROW("--proven", "DIR", proven, "/mnt/state/.slurmkeeper",
        "what slurmctld last served with, for the next pod; '' for nowhere"),
    ROW("--listen", "ADDRESS", listen, "0.0.0.0:6821", "HTTPS server; '' for none"),
    ROW("--identity", "DIR", identity, "/etc/slurmkeeper-agent",
        "directory with tls.crt, tls.key and token"),
    ROW("--socket", "PATH", socket, NULL, "Unix socket (0600) without TLS and token"),
    ROW("--restart-marker", "FILE", marker, "/run/slurmctld/restart",
        "made before slurmctld is ended, so that it is started again; '' for nobody does"),
    ROW("--key-stage", "FILE", key_stage, "/run/slurmctld/key-stage",
        "tells which stage of a change of keys slurmctld has; '' for nobody does"),
    ROW("--worker", "PROGRAM", worker, NULL,
        "the program for libslurm; default: slurmkeeper-agent-worker-RELEASE beside this program, "
        "for the release of slurmctld"),
    ROW("--slurmctld", "PROGRAM", slurmctld, NULL,
        "for its release, and for rehearsals of a new configuration; default: the first of PATH; "
        "'' for none"),
};

static const char **field_of(struct agent_options *o, const struct option_row *row)
{
    return (const char **)(void *)((char *)o + row->at);
}

static int option_take(struct agent_options *o, char **argv, int argc, int *i, struct err *e)
{
    struct str name = str_of(argv[*i]);
    size_t equals = str_find(name, '=');
    const char *value = equals < name.n ? argv[*i] + equals + 1 : NULL;

    name.n = equals;
    for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
        if (!str_eqz(name, rows[k].name))
            continue;
        if (!value && *i + 1 >= argc)
            return err_bad(e, "%s needs %s after it", rows[k].name, rows[k].value);
        *field_of(o, &rows[k]) = value ? value : argv[++*i];
        return 0;
    }
    return err_bad(e, "there is no option '" STR_FMT "'; --help lists all", STR_ARG(name));
}

static int mode_take(struct agent_options *o, const char *word, struct err *e)
{
    if (streq(word, "run"))
        o->mode = AGENT_RUN;
    else if (streq(word, "seed"))
        o->mode = AGENT_SEED;
    else if (streq(word, "--help") || streq(word, "-h"))
        o->mode = AGENT_HELP;
    else if (streq(word, "--version"))
        o->mode = AGENT_VERSION;
    else
        return err_bad(e, "'%s' is neither run nor seed", word);
    return 0;
}

int options_parse(int argc, char **argv, struct agent_options *ret, struct err *e)
{
    struct agent_options o = {.mode = AGENT_RUN};

    for (size_t k = 0; k < ARRAY_LEN(rows); k++)
        *field_of(&o, &rows[k]) = rows[k].standard;
    for (int i = 1; i < argc; i++) {
        bool option =
            starts_with(argv[i], "--") && !streq(argv[i], "--help") && !streq(argv[i], "--version");
        int r = option ? option_take(&o, argv, argc, &i, e) : mode_take(&o, argv[i], e);

        if (r < 0)
            return r;
    }
    *ret = o;
    return 0;
}

void options_help(struct buf *out)
{
    buf_adds(
        out,
        "Usage: slurmkeeper-agent [run|seed] [OPTION...]\n\n"
        "  run    keep slurmctld as declared, serve its state (default)\n"
        "  seed   fill the live directory if it is empty, with what slurmctld last served with or\n"
        "         else with the mounted files, and end\n\n");
    for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
        buf_printf(out, "  %s %s\n      %s", rows[k].name, rows[k].value, rows[k].help);
        if (rows[k].standard)
            buf_printf(out, " (%s)", rows[k].standard);
        buf_addc(out, '\n');
    }
}
