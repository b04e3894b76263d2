/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Release profiles.
 *
 * Every difference between Slurm releases that this program minds stands in the three tables here
 * (and, for configuration keys, in the key tables): first release of a feature, first and last
 * release of a bug, numbers of a series.  A release newer than the newest known counts as that one
 * with all features; one older than 22.05 is refused when it is parsed.
 *
 * Releases appear at 02, 05, 08 or 11 of a year; this is what tells "25.05" in an image tag from
 * the "24.04" of its distribution.
 */
#include "src/slurm/profile.h"

#include <ctype.h>
#include <stdio.h>

const uint32_t profile_series[] = {SERIES(26, 5),  SERIES(25, 11), SERIES(25, 5),
                                   SERIES(24, 11), SERIES(24, 5),  SERIES(23, 11),
                                   SERIES(23, 2),  SERIES(22, 5),  0};

static const uint32_t feature_since[] = {
    [PROFILE_CONFIGLESS] = RELEASE_OLDEST,       [PROFILE_DYNAMIC_NODES] = RELEASE_OLDEST,
    [PROFILE_AUTH_JWT] = RELEASE_OLDEST,         [PROFILE_RATE_LIMIT] = SERIES(23, 2),
    [PROFILE_RESUME_AFTER] = SERIES(23, 2),      [PROFILE_AUTH_SLURM] = SERIES(23, 11),
    [PROFILE_AUTH_KEY_SET] = SERIES(24, 5),      [PROFILE_SACK_BY_CLUSTER] = SERIES(25, 5),
    [PROFILE_NODES_EDIT] = SERIES(23, 11),       [PROFILE_RECONFIGURE_REFUSES] = SERIES(23, 11),
    [PROFILE_RESTD_PLUGINS] = SERIES(23, 11),    [PROFILE_SYSTEMD_FLAG] = SERIES(23, 11),
    [PROFILE_NODE_SET_CHANGES] = SERIES(23, 11), [PROFILE_HOST_SUFFIX] = SERIES(23, 11),
    [PROFILE_CGROUP_DISABLED] = SERIES(24, 5),   [PROFILE_PROLOG_REPEATS] = SERIES(24, 5),
    [PROFILE_STEPMGR] = SERIES(24, 5),           [PROFILE_PART_FLAGS_32] = SERIES(24, 5),
    [PROFILE_HOST_FUNCTIONS] = SERIES(24, 11),   [PROFILE_TOPOLOGY_YAML] = SERIES(25, 5),
    [PROFILE_EXTERNAL_NODES] = SERIES(25, 5),    [PROFILE_METRICS] = SERIES(25, 11),
    [PROFILE_HEALTH_HTTP] = SERIES(25, 11),      [PROFILE_RECONFIG_ON_RESTART] = SERIES(25, 11),
    [PROFILE_REST_PARTITIONS] = SERIES(26, 5),   [PROFILE_EXCLUSIVE] = SERIES(26, 5),
    [PROFILE_POWER_ACTION] = SERIES(26, 5),
};
_Static_assert(ARRAY_LEN(feature_since) == PROFILE_N_FEATURES, "a feature has no first release");

/* From the first release that has the bug up to, and without, the first that has it no longer. */
static const struct {
    enum profile_quirk quirk;
    uint32_t from;
    uint32_t until;
} quirks[] = {
    {QUIRK_NODESET_ALL, SERIES(22, 5), RELEASE(22, 5, 9)},
    {QUIRK_NODESET_ALL, SERIES(23, 2), RELEASE(23, 2, 1)},
    {QUIRK_PART_CREATE_HALF, SERIES(22, 5), SERIES(23, 11)},
    {QUIRK_PART_CREATE_CRASH, SERIES(23, 11), RELEASE(23, 11, 4)},
    {QUIRK_PART_QOS_ACCEPTED, SERIES(22, 5), SERIES(23, 11)},
    {QUIRK_PART_QOS_CRASH, SERIES(23, 11), RELEASE(24, 11, 6)},
    {QUIRK_PART_QOS_CRASH, SERIES(25, 5), RELEASE(25, 5, 1)},
    {QUIRK_PART_DELETE_LAST_CRASH, SERIES(22, 5), SERIES(25, 11)},
    {QUIRK_PART_EXCLUSIVE_FLAGS, SERIES(26, 5), RELEASE(26, 5, 4)},
    {QUIRK_RECONFIGURE_FRAGILE, SERIES(23, 11), RELEASE(23, 11, 5)},
    {QUIRK_RECONFIGURE_MISCOUNTS, SERIES(22, 5), SERIES(23, 11)},
    {QUIRK_DELETE_STATIC_NODE, SERIES(22, 5), RELEASE(23, 11, 2)},
    {QUIRK_RESUME_KEEPS_REASON, SERIES(23, 11), SERIES(26, 5)},
    {QUIRK_UNDRAIN_UNKNOWN, SERIES(22, 5), RELEASE(26, 5, 2)},
};

bool profile_has(uint32_t release, enum profile_feature feature)
{
    assert(feature < PROFILE_N_FEATURES);
    return release >= feature_since[feature];
}

bool profile_quirk(uint32_t release, enum profile_quirk quirk)
{
    for (size_t i = 0; i < ARRAY_LEN(quirks); i++)
        if (quirks[i].quirk == quirk && release >= quirks[i].from && release < quirks[i].until)
            return true;
    return false;
}

/* Place in profile_series; one that is newer than all counts as the newest. */
static size_t place_of(uint32_t release)
{
    size_t i = 0;

    while (profile_series[i + 1] && release < profile_series[i])
        i++;
    return i;
}

/* Two series before its own; three from 24.11 on. */
bool profile_client_accepted(uint32_t controller, uint32_t client)
{
    size_t own = place_of(controller);
    size_t theirs = place_of(client);

    return theirs >= own && theirs - own <= (controller >= SERIES(24, 11) ? 3U : 2U);
}

void release_text(uint32_t release, char ret_text[RELEASE_TEXT_LEN])
{
    (void)snprintf(ret_text, RELEASE_TEXT_LEN, "%u.%02u.%u", (release >> 16) & 0xff,
                   (release >> 8) & 0xff, release & 0xff);
}

void release_series_text(uint32_t release, char ret_text[RELEASE_TEXT_LEN])
{
    (void)snprintf(ret_text, RELEASE_TEXT_LEN, "%u.%02u", (release >> 16) & 0xff,
                   (release >> 8) & 0xff);
}

void release_needs(const char *what, uint32_t since, uint32_t release, struct buf *out)
{
    char needed[RELEASE_TEXT_LEN];
    char runs[RELEASE_TEXT_LEN];

    release_series_text(since, needed);
    release_series_text(release, runs);
    buf_printf(out, "%s needs Slurm %s; this cluster runs %s", what, needed, runs);
}

static bool digit_at(struct str s, size_t i)
{
    return i < s.n && isdigit((unsigned char)s.p[i]);
}

/* "25.05.3" or "25-05-3" at offset i, not in the middle of a longer number; 0 if there is none. */
static uint32_t release_at(struct str s, size_t i)
{
    uint32_t year;
    uint32_t month;
    uint32_t micro = 0;
    char dot;

    if (!digit_at(s, i) || !digit_at(s, i + 1) || !digit_at(s, i + 3) || !digit_at(s, i + 4) ||
        digit_at(s, i + 5) || (i > 0 && (digit_at(s, i - 1) || s.p[i - 1] == '.')))
        return 0;
    dot = s.p[i + 2];
    if (dot != '.' && dot != '-')
        return 0;
    year = (uint32_t)(s.p[i] - '0') * 10 + (uint32_t)(s.p[i + 1] - '0');
    month = (uint32_t)(s.p[i + 3] - '0') * 10 + (uint32_t)(s.p[i + 4] - '0');
    if (year < 14 || (month != 2 && month != 5 && month != 8 && month != 11))
        return 0;
    for (size_t k = i + 6; i + 5 < s.n && s.p[i + 5] == dot && digit_at(s, k); k++) {
        micro = micro * 10 + (uint32_t)(s.p[k] - '0');
        if (micro > 255)
            return 0;
    }
    return RELEASE(year, month, micro);
}

/* The part of an image reference that can name a release: its tag, if it has one. */
static struct str tag_of(struct str text)
{
    struct str rest = {text.p, str_find(text, '@')};
    struct str part;
    struct str last = rest;

    while (str_split(&rest, '/', &part))
        last = part;
    while (str_split(&last, ':', &part))
        ;
    return part;
}

int release_parse(struct str text, uint32_t *ret_release, struct err *e)
{
    struct str shown = {text.p, MIN(text.n, (size_t)100)};
    struct str tag = text.n ? tag_of(text) : text;
    uint32_t release = 0;

    for (size_t i = 0; release == 0 && i < tag.n; i++)
        release = release_at(tag, i);
    if (release == 0)
        return err_set(e, -ENOENT, ERR_PERMANENT,
                       "'" STR_FMT "' names no Slurm release (such as 25.05 or 22.05.8)",
                       STR_ARG(shown));
    if (release < RELEASE_OLDEST)
        return err_set(e, -EOPNOTSUPP, ERR_PERMANENT,
                       "'" STR_FMT "': Slurm releases before 22.05 are not supported",
                       STR_ARG(shown));
    *ret_release = release;
    return 0;
}
