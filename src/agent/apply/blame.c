/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Naming what slurmctld did not.
 *
 * slurmctld often says what it could not do, and not which setting wanted it: "fatal: failed to
 * initialize sched plugin" is all that the author of a SchedulerType hears.  What differs from the
 * files before is known here.  So a refusal of the files as a whole ends with the differences that
 * its words do not name, a few of them; long words are cut to make room.
 */
#include "src/agent/apply/engine_impl.h"

#include <ctype.h>

#define MAX_NAMED 3
#define CHANGE_BYTES 90

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* As a word of its own, without regard to case. */
static bool is_named(const char *words, const char *name)
{
    size_t n = strlen(name);

    for (const char *at = words; strlen(at) >= n; at++)
        if (str_eq_nocase((struct str){at, n}, str_of(name)) && !is_word(at[n]) &&
            (at == words || !is_word(at[-1])))
            return true;
    return false;
}

/* "SchedulerType: sched/backfill -> sched/nothing, ... and 2 more"; nothing if all are named. */
static void unnamed_print(const struct comparison *c, const char *words, struct buf *out)
{
    size_t n = 0;

    for (size_t i = 0; i < c->n; i++) {
        const struct compare_change *x = &c->list[i];

        if (x->class < CHANGE_RECONFIGURE || is_named(words, x->name) || n++ >= MAX_NAMED)
            continue;
        buf_printf(out, "%s%.*s%s", n > 1 ? ", " : "", CHANGE_BYTES, x->text,
                   strlen(x->text) > CHANGE_BYTES ? "..." : "");
    }
    if (n > MAX_NAMED)
        buf_printf(out, " and %zu more", n - MAX_NAMED);
}

void blame_changes(const struct comparison *c, struct err *why)
{
    AUTO(buf_done) struct buf changes = {0};
    struct err words = *why;
    size_t room;

    unnamed_print(c, why->text, &changes);
    if (changes.n == 0)
        return;
    room = sizeof(words.text) - MIN(changes.n + sizeof(" (changed: )..."), sizeof(words.text) - 1);
    (void)err_set(why, words.num ? words.num : -EINVAL, words.class, "%.*s%s (changed: %s)",
                  (int)room, words.text, strlen(words.text) > room ? "..." : "", buf_str(&changes));
}
