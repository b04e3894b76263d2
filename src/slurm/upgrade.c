/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Upgrades of Slurm.
 *
 * A daemon reads the state of its own series and of two before it (three, from 24.11 on), and it
 * answers clients of just these (profile.c).  That gives the order: slurmdbd, slurmctld, slurmd,
 * login nodes; and it bounds the steps.  A longer way is made of several, each as long as can be:
 * from 22.05 to 26.05 by 23.11 and 25.05.
 */
#include "src/slurm/upgrade.h"

#define SERIES_OF(release) ((release) & ~0xffU)

static const char *part_name(enum upgrade_part part)
{
    static const char *const names[] = {"slurmdbd", "slurmctld", "slurmd", "login nodes"};

    assert(part < UPGRADE_N_PARTS);
    return names[part];
}

bool upgrade_same_series(uint32_t a, uint32_t b)
{
    return SERIES_OF(a) == SERIES_OF(b);
}

/* The newest series, not after `to`, that takes over from `from`; 0: none is newer than it. */
static uint32_t next_hop(uint32_t from, uint32_t to)
{
    for (const uint32_t *s = profile_series; *s; s++)
        if (*s <= SERIES_OF(to) && *s > SERIES_OF(from) && profile_client_accepted(*s, from))
            return *s;
    return 0;
}

/* The releases between them, each a step that Slurm makes: "23.11, then 25.05". */
static void print_way(uint32_t from, uint32_t to, struct buf *out)
{
    uint32_t at = next_hop(from, to);

    for (size_t i = 0; at && !upgrade_same_series(at, to); i++, at = next_hop(at, to)) {
        char text[RELEASE_TEXT_LEN];

        release_series_text(at, text);
        buf_printf(out, "%s%s", i ? ", then " : "", text);
    }
}

/* The oldest series that `to` serves, and reads the state of. */
static void print_oldest(uint32_t to, char ret_text[RELEASE_TEXT_LEN])
{
    uint32_t oldest = SERIES_OF(to);

    for (const uint32_t *s = profile_series; *s; s++)
        if (profile_client_accepted(to, *s))
            oldest = *s;
    release_series_text(oldest, ret_text);
}

int upgrade_check_step(uint32_t from, uint32_t to, struct err *e)
{
    AUTO(buf_done) struct buf way = {0};
    char was[RELEASE_TEXT_LEN];
    char is[RELEASE_TEXT_LEN];
    char oldest[RELEASE_TEXT_LEN];

    if (upgrade_same_series(from, to) || profile_client_accepted(to, from))
        return 0;
    release_series_text(from, was);
    release_series_text(to, is);
    if (from > to)
        return err_set(e, -EINVAL, ERR_PERMANENT,
                       "Slurm %s cannot become %s again: no Slurm reads what a later one has "
                       "written; stay with %s or later",
                       was, is, was);
    print_way(from, to, &way);
    print_oldest(to, oldest);
    return err_set(e, -EINVAL, ERR_PERMANENT,
                   "Slurm %s cannot become %s at once: %s takes over from %s or later; go by %s "
                   "first",
                   was, is, is, oldest, buf_str(&way));
}

static int check_earlier(const struct upgrade_cluster *c, enum upgrade_part part, uint32_t to,
                         struct err *e)
{
    for (unsigned i = 0; i < part; i++) {
        char is[RELEASE_TEXT_LEN];
        char runs[RELEASE_TEXT_LEN];
        char oldest[RELEASE_TEXT_LEN];

        if (!c->runs[i] || upgrade_same_series(c->runs[i], to) ||
            profile_client_accepted(c->runs[i], to))
            continue;
        release_series_text(to, is);
        release_series_text(c->runs[i], runs);
        print_oldest(c->runs[i], oldest);
        if (c->runs[i] > to)
            return err_set(e, -EINVAL, ERR_PERMANENT,
                           "%s of Slurm %s is too old for %s, which runs %s and serves %s or later",
                           part_name(part), is, part_name(i), runs, oldest);
        return err_set(e, -EAGAIN, ERR_RETRY,
                       "%s of Slurm %s has to wait for %s, which runs %s and serves nothing newer",
                       part_name(part), is, part_name(i), runs);
    }
    return 0;
}

static int check_later(const struct upgrade_cluster *c, enum upgrade_part part, uint32_t to,
                       struct err *e)
{
    for (unsigned i = part + 1; i < UPGRADE_N_PARTS; i++) {
        char is[RELEASE_TEXT_LEN];
        char runs[RELEASE_TEXT_LEN];
        char oldest[RELEASE_TEXT_LEN];

        if (!c->runs[i] || c->runs[i] > to || profile_client_accepted(to, c->runs[i]))
            continue;
        release_series_text(to, is);
        release_series_text(c->runs[i], runs);
        print_oldest(to, oldest);
        return err_set(e, -EINVAL, ERR_PERMANENT,
                       "%s of Slurm %s serves %s of %s or later, and here %s runs: bring %s to %s "
                       "first",
                       part_name(part), is, part_name(i), oldest, runs, part_name(i), oldest);
    }
    return 0;
}

int upgrade_check_part(const struct upgrade_cluster *c, enum upgrade_part part, uint32_t to,
                       struct err *e)
{
    int r = c->runs[part] ? upgrade_check_step(c->runs[part], to, e) : 0;

    if (r == 0)
        r = check_later(c, part, to, e);
    return r < 0 ? r : check_earlier(c, part, to, e);
}
