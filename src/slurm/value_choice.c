/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Choices: the words that a value may be, each with the releases that know it.
 *
 * The key tables keep them as one string ("auth/munge auth/slurm>23.11"), which is easy to read
 * and to compare with Slurm's documentation; it is taken apart on each use, since a configuration
 * is checked once in a while and has few such keys.
 */
#include <strings.h>

#include "src/slurm/profile.h"
#include "src/slurm/value_impl.h"

static uint32_t series_parse(struct str text)
{
    uint32_t release = 0;
    int r = release_parse(text, &release, NULL);

    assert(r == 0);
    (void)r;
    return release;
}

bool choice_next(struct str *rest, struct choice *c)
{
    struct str text;
    unsigned index = c->means.p ? c->index + 1 : 0;
    size_t at;

    do {
        if (!str_split(rest, ' ', &text))
            return false;
    } while (text.n == 0);
    *c = (struct choice){.index = index};
    at = MIN(str_find(text, '>'), str_find(text, '<'));
    if (at < text.n) {
        uint32_t release = series_parse((struct str){text.p + at + 1, text.n - at - 1});

        if (text.p[at] == '>')
            c->since = release;
        else
            c->until = release;
        text.n = at;
    }
    at = str_find(text, ':');
    c->word = (struct str){text.p, at};
    c->means = at < text.n ? (struct str){text.p + at + 1, text.n - at - 1} : c->word;
    return true;
}

static bool choice_fits(const struct choice *c, uint32_t release)
{
    return release == 0 || (release >= c->since && (c->until == 0 || release < c->until));
}

bool choice_find(const char *choices, struct str text, uint32_t release, struct choice *ret)
{
    struct str rest = str_of(choices);
    struct choice c = {0};

    while (choice_next(&rest, &c))
        if (str_eq_nocase(c.word, text) && choice_fits(&c, release)) {
            *ret = c;
            return true;
        }
    return false;
}

bool choice_find_prefix(const char *choices, struct str text, struct choice *ret)
{
    struct str rest = str_of(choices);
    struct choice c = {0};

    while (choice_next(&rest, &c))
        if (text.n >= c.word.n && str_eq_nocase((struct str){text.p, c.word.n}, c.word)) {
            *ret = c;
            return true;
        }
    return false;
}

void choice_list(const char *choices, uint32_t release, struct buf *out)
{
    struct str rest = str_of(choices);
    struct choice c = {0};
    struct str before = {0};
    bool first = true;

    while (choice_next(&rest, &c)) {
        if (!choice_fits(&c, release) || c.means.p != c.word.p)
            continue;
        if (before.p) {
            buf_printf(out, "%s" STR_FMT, first ? "" : ", ", STR_ARG(before));
            first = false;
        }
        before = c.word;
    }
    if (before.p)
        buf_printf(out, "%s" STR_FMT, first ? "" : " or ", STR_ARG(before));
}
