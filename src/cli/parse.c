/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parsing the command line.
 *
 * slurmkeeper VERB [--option[=VALUE]]... [OPERAND]...  Options may stand anywhere after the verb;
 * "--" ends them.  An unknown option or verb is refused with the nearest thing that exists.
 */
#include <stdarg.h>
#include <stdio.h>

#include "src/base/alloc.h"
#include "src/base/str.h"
#include "src/cli/cli.h"

struct given {
    const char *name;
    const char *value;
};

struct cli_args {
    const struct cli_verb *verb;
    struct given *options;
    size_t n;
    size_t cap;
    const char **operands;
    size_t n_operands;
    size_t cap_operands;
};

const char *cli_get_at(const struct cli_args *args, const char *name, size_t i)
{
    for (size_t k = 0; k < args->n; k++)
        if (streq(args->options[k].name, name) && i-- == 0)
            return args->options[k].value;
    return NULL;
}

/* Of several the last one counts, as everywhere on command lines. */
const char *cli_get(const struct cli_args *args, const char *name)
{
    const char *value = NULL;

    for (size_t k = 0; k < args->n; k++)
        if (streq(args->options[k].name, name))
            value = args->options[k].value;
    return value;
}

bool cli_has(const struct cli_args *args, const char *name)
{
    return cli_get(args, name) != NULL;
}

size_t cli_operands(const struct cli_args *args, const char *const **ret_operands)
{
    *ret_operands = args->operands;
    return args->n_operands;
}

static PRINTF(1, 0) void complain(const char *fmt, va_list ap)
{
    (void)fprintf(stderr, "slurmkeeper: ");
    (void)vfprintf(stderr, fmt, ap);
    (void)fprintf(stderr, "\n");
}

int cli_usage_error(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    complain(fmt, ap);
    va_end(ap);
    return 2;
}

int cli_failure(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    complain(fmt, ap);
    va_end(ap);
    return 1;
}

bool cli_get_i64(const struct cli_args *args, const char *name, int64_t least, int64_t most,
                 int64_t *value)
{
    const char *text = cli_get(args, name);
    int64_t v;

    if (!text)
        return true;
    if (str_to_i64(str_of(text), &v) < 0 || v < least || v > most) {
        (void)cli_usage_error("%s: --%s: '%s' is not a number from %lld to %lld", args->verb->name,
                              name, text, (long long)least, (long long)most);
        return false;
    }
    *value = v;
    return true;
}

static const struct cli_option *find_in(const struct cli_option *list, struct str name)
{
    for (; list && list->name; list++)
        if (str_eqz(name, list->name))
            return list;
    return NULL;
}

static const struct cli_option *find_option(const struct cli_verb *verb, struct str name)
{
    const struct cli_option *o = find_in(verb->options, name);

    return o ? o : find_in(cli_common_options, name);
}

/* How many letters two words share at their start: enough to guess what was meant. */
static size_t shared(struct str a, const char *b)
{
    size_t n = 0;

    while (n < a.n && b[n] && a.p[n] == b[n])
        n++;
    return n;
}

static const char *nearest_option(const struct cli_verb *verb, struct str name)
{
    const char *best = NULL;
    size_t most = 1;

    for (const struct cli_option *o = verb->options; o && o->name; o++) {
        if (shared(name, o->name) > most) {
            most = shared(name, o->name);
            best = o->name;
        }
    }
    return best;
}

static int unknown_option(const struct cli_verb *verb, struct str name)
{
    const char *near = nearest_option(verb, name);

    if (near)
        return cli_usage_error("%s: there is no option --" STR_FMT "; did you mean --%s?",
                               verb->name, STR_ARG(name), near);
    return cli_usage_error("%s: there is no option --" STR_FMT "; see 'slurmkeeper %s --help'",
                           verb->name, STR_ARG(name), verb->name);
}

static void add_option(struct cli_args *args, const char *name, const char *value)
{
    array_reserve(&args->options, &args->cap, args->n + 1, sizeof(*args->options));
    args->options[args->n++] = (struct given){name, value};
}

/* argv[*i] is "--name" or "--name=value"; takes argv[*i + 1] where the value stands there. */
static int take_option(struct cli_args *args, int argc, char **argv, int *i)
{
    struct str word = str_of(argv[*i] + 2);
    size_t eq = str_find(word, '=');
    struct str name = {word.p, eq};
    const struct cli_option *o = find_option(args->verb, name);

    if (!o)
        return unknown_option(args->verb, name);
    if (!o->value && eq < word.n)
        return cli_usage_error("%s: --%s takes no value", args->verb->name, o->name);
    if (o->value && eq == word.n && *i + 1 >= argc)
        return cli_usage_error("%s: --%s needs a value (%s)", args->verb->name, o->name, o->value);
    if (!o->many && cli_has(args, o->name))
        return cli_usage_error("%s: --%s is given twice", args->verb->name, o->name);
    if (!o->value)
        add_option(args, o->name, "");
    else if (eq < word.n)
        add_option(args, o->name, word.p + eq + 1);
    else
        add_option(args, o->name, argv[++*i]);
    return 0;
}

/* The few that kubectl has taught everybody to write in short. */
static const char *const briefs[][2] = {
    {"-f", "filename"}, {"-h", "help"}, {"-n", "namespace"}, {"-o", "output"}};

const char *cli_brief(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(briefs); i++)
        if (streq(name, briefs[i][1]))
            return briefs[i][0];
    return NULL;
}

static const struct cli_option *find_brief(const struct cli_verb *verb, const char *word)
{
    for (size_t i = 0; i < ARRAY_LEN(briefs); i++)
        if (streq(word, briefs[i][0]) && !streq(word, "-h"))
            return find_option(verb, str_of(briefs[i][1]));
    return NULL;
}

static int take_word(struct cli_args *args, int argc, char **argv, int *i, bool *only_operands)
{
    const char *word = argv[*i];
    const struct cli_option *brief;

    if (!*only_operands && streq(word, "--")) {
        *only_operands = true;
        return 0;
    }
    brief = *only_operands ? NULL : find_brief(args->verb, word);
    if (brief) {
        if (*i + 1 >= argc)
            return cli_usage_error("%s: %s needs a value (%s)", args->verb->name, word,
                                   brief->value);
        add_option(args, brief->name, argv[++*i]);
        return 0;
    }
    if (!*only_operands && streq(word, "-h"))
        word = "--help";
    if (!*only_operands && starts_with(word, "--") && word != argv[*i]) {
        add_option(args, "help", "");
        return 0;
    }
    if (!*only_operands && starts_with(word, "--"))
        return take_option(args, argc, argv, i);
    if (!*only_operands && word[0] == '-' && word[1])
        return cli_usage_error("%s: options are written in full (--help lists them), not '%s'",
                               args->verb->name, word);
    if (!args->verb->operands)
        return cli_usage_error("%s: unexpected '%s'; see 'slurmkeeper %s --help'", args->verb->name,
                               word, args->verb->name);
    array_reserve(&args->operands, &args->cap_operands, args->n_operands + 1, sizeof(char *));
    args->operands[args->n_operands++] = word;
    return 0;
}

static const struct cli_verb *find_verb(const char *name)
{
    for (const struct cli_verb *v = cli_verbs; v->name; v++)
        if (streq(v->name, name))
            return v;
    return NULL;
}

static int overview(FILE *to, int status)
{
    AUTO(buf_done) struct buf b = {0};

    cli_print_overview(&b);
    (void)fputs(buf_str(&b), to);
    return status;
}

static int help_of(const struct cli_verb *verb)
{
    AUTO(buf_done) struct buf b = {0};

    cli_print_help(&b, verb);
    (void)fputs(buf_str(&b), stdout);
    return 0;
}

static int run_verb(struct cli_args *args, int argc, char **argv)
{
    bool only_operands = false;
    int r = 0;

    for (int i = 2; i < argc && r == 0; i++)
        r = take_word(args, argc, argv, &i, &only_operands);
    if (r != 0)
        return r;
    return cli_has(args, "help") ? help_of(args->verb) : args->verb->run(args);
}

int cli_main(int argc, char **argv)
{
    struct cli_args args = {0};
    int r;

    if (argc < 2)
        return overview(stderr, 2);
    if (streq(argv[1], "--help") || streq(argv[1], "-h"))
        return overview(stdout, 0);
    if (streq(argv[1], "help")) {
        args.verb = argc > 2 ? find_verb(argv[2]) : NULL;
        return args.verb ? help_of(args.verb) : overview(stdout, 0);
    }
    args.verb = find_verb(streq(argv[1], "--version") ? "version" : argv[1]);
    if (!args.verb)
        return cli_usage_error("there is no verb '%s'; 'slurmkeeper help' lists them", argv[1]);
    r = run_verb(&args, argc, argv);
    free(args.options);
    free(args.operands);
    return r;
}
