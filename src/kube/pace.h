/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How fast to ask and how soon to ask again: token bucket, back-off, jitter. */
#pragma once

#include <stdint.h>

/* Tokens come at a steady rate up to a maximum; each thing done takes one. */
struct pace_bucket {
    double per_ms; /* 0 or less: no limit */
    double burst;
    double tokens;
    int64_t at_ms;
};

/* Full at first. */
void pace_bucket_init(struct pace_bucket *b, double per_second, double burst, int64_t now_ms);
/* Take a token and return 0; or, without taking, the milliseconds until there is one. */
int64_t pace_bucket_take(struct pace_bucket *b, int64_t now_ms);

/* Doubles from first_ms to max_ms; {first_ms, max_ms} is a fresh one. */
struct pace_backoff {
    int64_t first_ms;
    int64_t max_ms;
    unsigned int failures;
};

/* The delay after one more failure: between a half and the whole of the step. */
int64_t pace_backoff_next(struct pace_backoff *b);
void pace_backoff_reset(struct pace_backoff *b);

/* A random number, both ends included. */
int64_t pace_random(int64_t low, int64_t high);
