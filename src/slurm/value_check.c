/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Check values: what Slurm's parser, or slurmctld behind it, would refuse.
 *
 * The sentences stand after the value ("'soon' is not a time ...") and say what is allowed.  What
 * depends on the release (which flags and plugins exist) is looked up for it.
 */
#include <ctype.h>
#include <stdlib.h>

#include "src/slurm/hostlist.h"
#include "src/slurm/profile.h"
#include "src/slurm/value_impl.h"

static const char *number_rule(enum value_kind kind)
{
    switch ((unsigned)kind) {
    case VALUE_BOOL:
        return "is neither YES nor NO";
    case VALUE_U16:
        return "is not a number from 0 to 65535, INFINITE or UNLIMITED";
    case VALUE_U32:
        return "is not a number from 0 to 4294967295, INFINITE or UNLIMITED";
    case VALUE_U64:
        return "is not a number from 0 on (with or without a K after it), INFINITE or UNLIMITED";
    case VALUE_MINUTES:
    case VALUE_SECONDS:
        return "is not a time: minutes, minutes:seconds, hours:minutes:seconds, days-hours, "
               "days-hours:minutes, days-hours:minutes:seconds or UNLIMITED";
    case VALUE_SUSPEND:
        return "is not a number of seconds, INFINITE or -1";
    case VALUE_OVERTIME:
        return "is not a number of minutes, INFINITE or UNLIMITED";
    case VALUE_LOGLEVEL:
        return "is not one of quiet, fatal, error, info, verbose, debug, debug2 to debug5 or their "
               "numbers 0 to 9";
    case VALUE_SHARE:
        return "is not NO, EXCLUSIVE, YES, YES:n (n from 2), FORCE or FORCE:n";
    case VALUE_PREEMPT:
        return "is not one of OFF, CANCEL, REQUEUE and SUSPEND, with or without GANG or WITHIN";
    default:
        return NULL;
    }
}

static int bad_choice(const char *choices, uint32_t release, struct str word, struct err *e)
{
    AUTO(buf_done) struct buf list = {0};
    struct choice c;

    if (choice_find(choices, word, 0, &c)) {
        char series[RELEASE_TEXT_LEN];

        if (c.since && release < c.since) {
            release_series_text(c.since, series);
            return err_bad(e, "needs Slurm %s or later", series);
        }
        release_series_text(c.until, series);
        return err_bad(e, "is gone since Slurm %s", series);
    }
    choice_list(choices, release, &list);
    return err_bad(e, "is not %s", buf_str(&list));
}

static int flags_check(struct value_type type, uint32_t release, struct str value, struct err *e)
{
    struct choice c;
    struct str word;

    while (str_split(&value, ',', &word)) {
        struct err why = {0};
        int r;

        if (word.n == 0 || choice_find(type.choices, word, release, &c))
            continue;
        r = bad_choice(type.choices, release, word, &why);
        return err_set(e, r, ERR_PERMANENT, "has '" STR_FMT "', which %s", STR_ARG(word), why.text);
    }
    return 0;
}

/* The class stands in the first choice: "auth" of "auth/munge ...". */
static struct str plugin_class(const char *choices)
{
    struct str all = str_of(choices);

    return (struct str){all.p, str_find(all, '/')};
}

static int plugin_check(struct value_type type, uint32_t release, struct str value, bool bare_ok,
                        struct err *e)
{
    struct str class = plugin_class(type.choices);
    size_t slash = str_find(value, '/');
    char full[128];
    struct choice c;
    int n;

    n = slash == value.n && bare_ok
            ? snprintf(full, sizeof(full), STR_FMT "/" STR_FMT, STR_ARG(class), STR_ARG(value))
            : snprintf(full, sizeof(full), STR_FMT, STR_ARG(value));
    if (n < 0 || (size_t)n >= sizeof(full))
        return err_bad(e, "is too long for the name of a plugin");
    if ((size_t)n <= class.n || full[class.n] != '/' ||
        !str_eq_nocase((struct str){full, class.n}, class))
        return err_bad(e, "does not start with '" STR_FMT "/'", STR_ARG(class));
    if (choice_find(type.choices, str_of(full), release, &c))
        return 0;
    if (choice_find(type.choices, str_of(full), 0, &c))
        return bad_choice(type.choices, release, str_of(full), e);
    return err_set(e, -ENOTSUP, ERR_PERMANENT,
                   "is not a plugin of Slurm's own; it must be installed");
}

static int plugins_check(struct value_type type, uint32_t release, struct str value, struct err *e)
{
    struct str word;

    while (str_split(&value, ',', &word)) {
        int r = word.n ? plugin_check(type, release, word, true, e) : 0;

        if (r < 0)
            return r;
    }
    return 0;
}

static int hosts_check(uint32_t release, struct str value, bool braces, struct err *e)
{
    AUTO(hostlist_free) struct host_list *list = NULL;
    AUTO(buf_done) struct buf needs = {0};
    struct err why = {0};

    if (braces && memchr(value.n ? value.p : "", '{', value.n) &&
        profile_has(release, PROFILE_HOST_FUNCTIONS))
        return 0;
    if (braces && memchr(value.n ? value.p : "", '{', value.n)) {
        release_needs("has a function in braces, which", SERIES(24, 11), release, &needs);
        return err_bad(e, "%s", buf_str(&needs));
    }
    if (hostlist_parse(value, &list, &why) < 0)
        return err_bad(e, "is not a host list: %s", why.text);
    if (hostlist_has_suffix(list) && !profile_has(release, PROFILE_HOST_SUFFIX)) {
        release_needs("has text after brackets, which", SERIES(23, 11), release, &needs);
        return err_bad(e, "%s", buf_str(&needs));
    }
    return 0;
}

static int hostaddr_check(struct str value, struct err *e)
{
    size_t open = str_find(value, '(');
    size_t close = str_find(value, ')');

    if (open == 0 || (open < value.n) != (close < value.n) ||
        (close < value.n && (close + 1 != value.n || close < open)))
        return err_bad(e, "is not a host name, or a host name with an address in parentheses");
    return 0;
}

/* "CPU=1.0,Mem=0.25G": a resource, '=', a number and perhaps a unit. */
static int weights_check(struct str value, struct err *e)
{
    struct str item;

    while (str_split(&value, ',', &item)) {
        size_t at = str_find(item, '=') + 1;
        size_t digits = 0;

        while (at < item.n && (isdigit((unsigned char)item.p[at]) || item.p[at] == '.')) {
            digits++;
            at++;
        }
        if (at < item.n && item.p[at] != '\0' && strchr("kKmMgGtTpP", item.p[at]))
            at++;
        if (item.n > 0 && (digits == 0 || at != item.n || item.p[0] == '='))
            return err_bad(e, "has '" STR_FMT "', which is not a resource, '=' and a number",
                           STR_ARG(item));
    }
    return 0;
}

static int float_check(struct str value, struct err *e)
{
    unsigned digits = 0;
    unsigned dots = 0;

    for (size_t i = 0; i < value.n; i++) {
        digits += isdigit((unsigned char)value.p[i]) != 0;
        dots += value.p[i] == '.';
    }
    return digits == 0 || dots > 1 || digits + dots < value.n ? err_bad(e, "is not a number") : 0;
}

int value_check(struct value_type type, uint32_t release, struct str value, struct err *e)
{
    struct choice c;
    uint64_t number;
    uint32_t first;
    uint32_t last;

    switch ((unsigned)type.kind) {
    case VALUE_TEXT:
    case VALUE_WORD:
    case VALUE_OPTIONS:
    case VALUE_NAMES:
        return 0;
    case VALUE_PORTS:
        if (value_parse_ports(value, &first, &last) < 0)
            return err_bad(e, "is not a port from 1 to 65535, or a range of ports");
        return 0;
    case VALUE_ENUM:
        return choice_find(type.choices, value, release, &c)
                   ? 0
                   : bad_choice(type.choices, release, value, e);
    case VALUE_PREFIX:
        return choice_find_prefix(type.choices, value, &c)
                   ? 0
                   : bad_choice(type.choices, release, value, e);
    case VALUE_FLAGS:
        return flags_check(type, release, value, e);
    case VALUE_PLUGIN:
        return plugin_check(type, release, value, false, e);
    case VALUE_PLUGINS:
        return plugins_check(type, release, value, e);
    case VALUE_HOSTS:
        return hosts_check(release, value, false, e);
    case VALUE_NODES:
        return hosts_check(release, value, true, e);
    case VALUE_HOSTADDR:
        return hostaddr_check(value, e);
    case VALUE_WEIGHTS:
        return weights_check(value, e);
    case VALUE_FLOAT:
        return float_check(value, e);
    default:
        if (value_number(type, value, &number) < 0)
            return err_bad(e, "%s", number_rule(type.kind));
        if (type.kind == VALUE_PREEMPT && (number & VALUE_PREEMPT_PRIORITY) &&
            release < SERIES(25, 5))
            return err_bad(e, "has PRIORITY, which needs Slurm 25.05 or later");
        return 0;
    }
}
