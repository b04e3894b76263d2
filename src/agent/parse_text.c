/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What libslurm's parser is shown of a slurm.conf.
 *
 * The parser reads line by line, and compiles a regular expression for each partition: 500 of them
 * take it 30 ms, where the change of one takes slurmctld a millisecond.  A partition's line that
 * stands in the file that runs has been parsed before, and parses again; so an edit of one
 * partition among many is shown to the parser with that one alone.
 *
 * Lines of partitions depend on others in two ways only: PartitionName=DEFAULT (or a file that is
 * included and may hold it), and a line that is continued.  Where there is the first, all lines are
 * shown; lines of the second kind always are.  That no partition stands twice is our own
 * validation's to see.
 */
#include "src/agent/parse_text.h"

#include <strings.h>

#include "src/base/map.h"

#define HEAD "PartitionName="
#define NODESET "NodeSet="

static bool is_continued(struct str line)
{
    return line.n > 0 && line.p[line.n - 1] == '\\';
}

/* The next line that is a whole one by itself; others are passed over with empty `*ret`. */
static bool next_line(struct str *rest, bool *inside, struct str *ret_line, struct str *ret_part)
{
    bool part_of_another = *inside;

    if (!rest->p || !str_split(rest, '\n', ret_line))
        return false;
    *inside = is_continued(*ret_line);
    *ret_part =
        part_of_another || *inside || !str_starts(*ret_line, HEAD) ? (struct str){0} : *ret_line;
    return true;
}

static bool begins(struct str s, const char *word)
{
    return s.n >= strlen(word) && strncasecmp(s.p, word, strlen(word)) == 0;
}

/* Other lines may depend on it, or it is not written as we write them. */
static bool is_special(struct str line)
{
    struct str t = str_trim(line);

    if (begins(t, "include"))
        return true;
    return begins(t, "partitionname") && (!str_starts(t, HEAD) || begins(t, HEAD "DEFAULT"));
}

static bool has_special(struct str text)
{
    struct str line;

    while (str_split(&text, '\n', &line))
        if (is_special(line))
            return true;
    return false;
}

/* The lines of partitions. */
static void lines_read(struct str text, struct map *ret)
{
    bool inside = false;
    struct str line;
    struct str part;

    while (next_line(&text, &inside, &line, &part))
        if (part.n)
            (void)map_put(ret, part, ret);
}

void parse_text_new(struct str text, struct str known, struct buf *ret)
{
    AUTO(map_done) struct map lines = {0};
    bool inside = false;
    struct str line;
    struct str part;

    if (has_special(text) || has_special(known)) {
        buf_addstr(ret, text);
        return;
    }
    lines_read(known, &lines);
    while (next_line(&text, &inside, &line, &part)) {
        if (part.n && map_get(&lines, part))
            buf_addc(ret, '#');
        else
            buf_addstr(ret, line);
        if (text.p)
            buf_addc(ret, '\n');
    }
}

/* The next whole line of a partition or of a node set (or another one, as `*ret_other`). */
static bool next_free(struct str *rest, bool *inside, struct str *ret_free, struct str *ret_other)
{
    struct str part;
    bool part_of_another = *inside;

    *ret_free = *ret_other = (struct str){0};
    if (!next_line(rest, inside, ret_other, &part))
        return false;
    if (!part_of_another && !*inside && str_starts(*ret_other, NODESET))
        part = *ret_other;
    *ret_free = part;
    return true;
}

/* The next line that is none of these. */
static bool next_other(struct str *rest, bool *inside, struct str *ret)
{
    struct str own;

    while (next_free(rest, inside, &own, ret))
        if (own.n == 0)
            return true;
    return false;
}

static bool others_are_same(struct str a, struct str b)
{
    bool inside_a = false;
    bool inside_b = false;
    struct str x;
    struct str y;

    while (next_other(&a, &inside_a, &x))
        if (!next_other(&b, &inside_b, &y) || !str_eq(x, y))
            return false;
    return !next_other(&b, &inside_b, &y);
}

bool parse_text_only_lines(struct str text, struct str known, parse_line_fn fn, void *arg)
{
    AUTO(map_done) struct map lines = {0};
    bool inside = false;
    struct str line;
    struct str part;

    if (has_special(text) || has_special(known) || !others_are_same(text, known))
        return false;
    while (next_free(&known, &inside, &part, &line))
        if (part.n)
            (void)map_put(&lines, part, &lines);
    inside = false;
    while (next_free(&text, &inside, &part, &line))
        if (part.n && !map_get(&lines, part) && !fn(arg, part))
            return false;
    return true;
}
