/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What libslurm's parser and slurmctld take for certain.
 *
 * Asking the parser means a process and a copy of the files, and a rehearsal starts a slurmctld;
 * for one edited number or one more node set that is most of the work.  Here are the plainest forms
 * of what a partition may have: "MaxTime=90", "Nodes=c[1-4]", "State=DRAIN", and of a node set: one
 * feature.  Every release takes them.  All else (quotes, times in other forms, octal numbers, lists
 * of weights) is Slurm's own business, and it is asked.
 *
 * This says nothing about what the line means, such as whether its nodes are there: src/slurm's
 * validation does that for every line.  tests/agent/test_vouch.py holds this file against the real
 * parser and a real slurmctld.
 */
#include "src/agent/vouch.h"

#include "src/agent/parse_text.h"

#define NAME_MAX_BYTES 64
#define LIST_MAX_BYTES 4096
#define PARTITION_KEYS_MAX 64

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' ||
           c == '-' || c == '.';
}

static bool all(struct str s, bool (*is)(char))
{
    for (size_t i = 0; i < s.n; i++)
        if (!is(s.p[i]))
            return false;
    return s.n > 0;
}

static bool is_list_char(char c)
{
    return is_name_char(c) || c == ',';
}

static bool is_nodes_char(char c)
{
    return is_list_char(c) || c == '[' || c == ']';
}

/* "0", "17": no octal, no suffix, and few enough digits for the kind. */
static bool is_number(struct str s, size_t most_digits)
{
    return all(s, is_digit) && s.n <= most_digits && (s.p[0] != '0' || s.n == 1);
}

/* "90", "24:00:00" */
static bool is_time(struct str s)
{
    struct str hours;
    struct str minutes;

    if (str_find(s, ':') == s.n)
        return is_number(s, 6);
    return str_split(&s, ':', &hours) && str_split(&s, ':', &minutes) && all(hours, is_digit) &&
           hours.n <= 4 && all(minutes, is_digit) && minutes.n == 2 && all(s, is_digit) && s.n == 2;
}

static bool is_among(struct str s, const char *const *words)
{
    for (; *words; words++)
        if (str_eqz(s, *words))
            return true;
    return false;
}

static bool is_plain(const struct conf_key *key, struct str v)
{
    static const char *const bools[] = {"YES", "NO", NULL};
    static const char *const states[] = {"UP", "DOWN", "DRAIN", "INACTIVE", NULL};
    static const char *const shares[] = {"NO", "EXCLUSIVE", NULL};

    if (key->type.kind == VALUE_BOOL)
        return is_among(v, bools);
    if (key->type.kind == VALUE_U16)
        return is_number(v, 4);
    if (key->type.kind == VALUE_U32 || key->type.kind == VALUE_U64)
        return is_number(v, 9);
    if (key->type.kind == VALUE_MINUTES)
        return is_time(v) || str_eqz(v, "UNLIMITED");
    if (key->type.kind == VALUE_SHARE)
        return is_among(v, shares);
    if (key->type.kind == VALUE_NODES)
        return v.n <= LIST_MAX_BYTES && all(v, is_nodes_char);
    if (key->type.kind == VALUE_NAMES || key->type.kind == VALUE_OPTIONS)
        return v.n <= LIST_MAX_BYTES && all(v, is_list_char);
    return streq(key->name, "State") && is_among(v, states);
}

/* "MaxTime=90"; each key once. */
static bool pair_is_certain(struct str word, uint32_t release, bool *seen)
{
    struct str name;
    const struct conf_key *key;
    const struct conf_key *keys;
    size_t n;

    if (str_find(word, '=') == word.n)
        return false;
    (void)str_split(&word, '=', &name);
    keys = keys_of(CONF_SLURM, CONF_PARTITION, &n);
    key = keys_find(CONF_SLURM, CONF_PARTITION, name);
    if (!key || !str_eqz(name, key->name) || !keys_in_release(key, release) || key->same_as ||
        !is_plain(key, word))
        return false;
    assert(n <= PARTITION_KEYS_MAX);
    if (seen[key - keys])
        return false;
    seen[key - keys] = true;
    return true;
}

/* "PartitionName=a" or the like, for that key. */
static bool is_name(struct str word, const char *key)
{
    struct str name;

    if (!str_starts(word, key))
        return false;
    name = (struct str){word.p + strlen(key), word.n - strlen(key)};
    return name.n <= NAME_MAX_BYTES && all(name, is_name_char) &&
           !str_eq_nocase(name, STR("DEFAULT")) && !str_eq_nocase(name, STR("ALL"));
}

static bool is_plain_partition(struct str line, uint32_t release)
{
    bool seen[PARTITION_KEYS_MAX] = {false};
    struct str word;

    if (!str_split(&line, ' ', &word) || !is_name(word, "PartitionName=") || !line.p)
        return false;
    while (str_split(&line, ' ', &word))
        if (word.n > 0 && !pair_is_certain(word, release, seen))
            return false;
    return true;
}

/* "NodeSet=gpu Feature=gpu" */
static bool is_plain_nodeset(struct str line)
{
    struct str word;

    return str_split(&line, ' ', &word) && is_name(word, "NodeSet=") && is_name(line, "Feature=");
}

bool vouch_line(struct str line, uint32_t release)
{
    return is_plain_partition(line, release) || is_plain_nodeset(line);
}

static bool on_line(void *arg, struct str line)
{
    return vouch_line(line, *(const uint32_t *)arg);
}

bool vouch_text(struct str text, struct str known, uint32_t release)
{
    /* of a series that nobody has seen, nothing is certain */
    if (release < RELEASE_OLDEST || release > (RELEASE_NEWEST | 0xff))
        return false;
    return parse_text_only_lines(text, known, on_line, &release);
}
