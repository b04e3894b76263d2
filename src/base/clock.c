/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading the clocks.
 *
 * Decisions use the monotonic clock; the wall clock is for timestamps that people and other
 * programs read.  Nothing else is in this file, so that a test program can bring clocks of its own:
 * whatever it links then runs on their time.
 */
#include "src/base/clock.h"

#include <time.h>

int64_t clock_mono_ns(void)
{
    struct timespec ts;

    (void)clock_gettime(CLOCK_MONOTONIC, &ts);
    return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

int64_t clock_mono_ms(void)
{
    return clock_mono_ns() / 1000000;
}

int64_t clock_wall_us(void)
{
    struct timespec ts;

    (void)clock_gettime(CLOCK_REALTIME, &ts);
    return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}
