/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Clocks and the text forms of time: RFC 3339 and Kubernetes' ages. */
#pragma once

#include <stdint.h>

#include "src/base/str.h"

/* Monotonic: decides about time-outs and back-off.  Milliseconds and nanoseconds since boot. */
int64_t clock_mono_ms(void);
int64_t clock_mono_ns(void);

/* Wall clock: for what people read, never for decisions.  Microseconds since 1970. */
int64_t clock_wall_us(void);

/*
 * Seconds that came from outside as milliseconds or microseconds.  What is too much is cut far
 * beyond any time that matters, so that adding the present to it does not overflow.
 */
int64_t clock_s_to_ms(int64_t seconds);
int64_t clock_s_to_us(int64_t seconds);

#define CLOCK_RFC3339_LEN 32
/* "2026-01-09T10:00:00Z", and with six decimals "2026-01-09T10:00:00.123456Z". */
void clock_rfc3339(int64_t wall_us, char ret_text[CLOCK_RFC3339_LEN]);
void clock_rfc3339_micro(int64_t wall_us, char ret_text[CLOCK_RFC3339_LEN]);

/* Parse RFC 3339 with any offset and fraction. */
int clock_parse_rfc3339(struct str text, int64_t *ret_wall_us) MUST_CHECK;

#define CLOCK_AGE_LEN 24
/* A duration as kubectl shows ages: 119s, 5m3s, 170m, 7h5m, 47h, 7d5h, 700d, 3y20d, 9y. */
void clock_age(int64_t age_s, char ret_text[CLOCK_AGE_LEN]);
