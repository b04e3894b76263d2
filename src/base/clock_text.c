/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The text forms of time.
 *
 * clock_age follows the steps of kubectl's human durations, so that a table made here and one made
 * by a real API server agree.
 */
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

#include "src/base/clock.h"

static int64_t scale(int64_t n, int64_t by)
{
    int64_t most = INT64_MAX / 4 / by;

    return MAX(-most, MIN(n, most)) * by;
}

int64_t clock_s_to_ms(int64_t seconds)
{
    return scale(seconds, 1000);
}

int64_t clock_s_to_us(int64_t seconds)
{
    return scale(seconds, 1000000);
}

/* Floor division: the fraction stays positive before 1970 too. */
static void split_us(int64_t wall_us, time_t *sec, int *us)
{
    int64_t s = wall_us / 1000000;
    int64_t rest = wall_us % 1000000;

    if (rest < 0) {
        rest += 1000000;
        s--;
    }
    *sec = (time_t)s;
    *us = (int)rest;
}

static void format(int64_t wall_us, bool micro, char text[CLOCK_RFC3339_LEN])
{
    char fraction[16] = "";
    struct tm tm = {0};
    time_t sec;
    int us;

    split_us(wall_us, &sec, &us);
    (void)gmtime_r(&sec, &tm);
    if (micro)
        (void)snprintf(fraction, sizeof(fraction), ".%06d", us);
    (void)snprintf(text, CLOCK_RFC3339_LEN, "%04d-%02d-%02dT%02d:%02d:%02d%sZ",
                   (tm.tm_year + 1900) % 10000, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min,
                   tm.tm_sec, fraction);
}

void clock_rfc3339(int64_t wall_us, char ret_text[CLOCK_RFC3339_LEN])
{
    format(wall_us, false, ret_text);
}

void clock_rfc3339_micro(int64_t wall_us, char ret_text[CLOCK_RFC3339_LEN])
{
    format(wall_us, true, ret_text);
}

static int digits(struct str s, size_t at, size_t n, int *ret)
{
    int v = 0;

    if (at + n > s.n)
        return -EINVAL;
    for (size_t i = at; i < at + n; i++) {
        if (s.p[i] < '0' || s.p[i] > '9')
            return -EINVAL;
        v = v * 10 + (s.p[i] - '0');
    }
    *ret = v;
    return 0;
}

/* ".123456789" at *at: microseconds; moves *at past it. */
static int fraction_us(struct str s, size_t *at, int64_t *ret_us)
{
    int64_t us = 0;
    int64_t scale = 100000;
    size_t i = *at;

    if (i < s.n && s.p[i] == '.') {
        size_t start = ++i;

        for (; i < s.n && s.p[i] >= '0' && s.p[i] <= '9'; i++, scale /= 10)
            us += (s.p[i] - '0') * scale;
        if (i == start)
            return -EINVAL;
    }
    *at = i;
    *ret_us = us;
    return 0;
}

/* "Z" or "+hh:mm" up to the end. */
static int offset_s(struct str s, size_t at, int64_t *ret_s)
{
    int h;
    int m;

    if (at + 1 == s.n && (s.p[at] == 'Z' || s.p[at] == 'z')) {
        *ret_s = 0;
        return 0;
    }
    if (at + 6 != s.n || (s.p[at] != '+' && s.p[at] != '-') || s.p[at + 3] != ':' ||
        digits(s, at + 1, 2, &h) < 0 || digits(s, at + 4, 2, &m) < 0 || h > 23 || m > 59)
        return -EINVAL;
    *ret_s = (s.p[at] == '-' ? -1 : 1) * (int64_t)(h * 3600 + m * 60);
    return 0;
}

int clock_parse_rfc3339(struct str text, int64_t *ret_wall_us)
{
    struct tm tm = {0};
    size_t at = 19;
    int64_t offset;
    int64_t us;

    if (text.n < 20 || text.p[4] != '-' || text.p[7] != '-' ||
        (text.p[10] != 'T' && text.p[10] != 't') || text.p[13] != ':' || text.p[16] != ':')
        return -EINVAL;
    if (digits(text, 0, 4, &tm.tm_year) < 0 || digits(text, 5, 2, &tm.tm_mon) < 0 ||
        digits(text, 8, 2, &tm.tm_mday) < 0 || digits(text, 11, 2, &tm.tm_hour) < 0 ||
        digits(text, 14, 2, &tm.tm_min) < 0 || digits(text, 17, 2, &tm.tm_sec) < 0)
        return -EINVAL;
    if (tm.tm_mon < 1 || tm.tm_mon > 12 || tm.tm_mday < 1 || tm.tm_mday > 31 || tm.tm_hour > 23 ||
        tm.tm_min > 59 || tm.tm_sec > 60)
        return -EINVAL;
    if (fraction_us(text, &at, &us) < 0 || offset_s(text, at, &offset) < 0)
        return -EINVAL;
    tm.tm_year -= 1900;
    tm.tm_mon -= 1;
    *ret_wall_us = ((int64_t)timegm(&tm) - offset) * 1000000 + us;
    return 0;
}

/* "7h5m": whole part and rest, the rest left out when zero. */
static void two_units(char *text, int64_t a, const char *ua, int64_t b, const char *ub)
{
    if (b == 0)
        (void)snprintf(text, CLOCK_AGE_LEN, "%lld%s", (long long)a, ua);
    else
        (void)snprintf(text, CLOCK_AGE_LEN, "%lld%s%lld%s", (long long)a, ua, (long long)b, ub);
}

void clock_age(int64_t age_s, char ret_text[CLOCK_AGE_LEN])
{
    const int64_t minute = 60;
    const int64_t hour = 60 * minute;
    const int64_t day = 24 * hour;
    const int64_t year = 365 * day;

    if (age_s < -1)
        (void)snprintf(ret_text, CLOCK_AGE_LEN, "<invalid>");
    else if (age_s < 2 * minute)
        two_units(ret_text, MAX(age_s, 0), "s", 0, "");
    else if (age_s < 10 * minute)
        two_units(ret_text, age_s / minute, "m", age_s % minute, "s");
    else if (age_s < 3 * hour)
        two_units(ret_text, age_s / minute, "m", 0, "");
    else if (age_s < 8 * hour)
        two_units(ret_text, age_s / hour, "h", age_s % hour / minute, "m");
    else if (age_s < 48 * hour)
        two_units(ret_text, age_s / hour, "h", 0, "");
    else if (age_s < 8 * day)
        two_units(ret_text, age_s / day, "d", age_s % day / hour, "h");
    else if (age_s < 2 * year)
        two_units(ret_text, age_s / day, "d", 0, "");
    else if (age_s < 8 * year)
        two_units(ret_text, age_s / year, "y", age_s % year / day, "d");
    else
        two_units(ret_text, age_s / year, "y", 0, "");
}
