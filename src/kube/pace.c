/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pace: token bucket, exponential back-off, jitter.
 *
 * Times are the caller's monotonic clock, so that all of this is pure but for the jitter.  Jitter
 * keeps the many clients of a server that has come back from asking all at once; its randomness
 * need not be good, only different from process to process.
 */
#include "src/kube/pace.h"

#include <math.h>

#include "src/base/cleanup.h"
#include "src/base/encode.h"

void pace_bucket_init(struct pace_bucket *b, double per_second, double burst, int64_t now_ms)
{
    *b = (struct pace_bucket){per_second / 1000, MAX(burst, 1.0), MAX(burst, 1.0), now_ms};
}

int64_t pace_bucket_take(struct pace_bucket *b, int64_t now_ms)
{
    if (b->per_ms <= 0)
        return 0;
    if (now_ms > b->at_ms) {
        b->tokens = MIN(b->burst, b->tokens + (double)(now_ms - b->at_ms) * b->per_ms);
        b->at_ms = now_ms;
    }
    if (b->tokens >= 1) {
        b->tokens -= 1;
        return 0;
    }
    return (int64_t)ceil((1 - b->tokens) / b->per_ms);
}

int64_t pace_backoff_next(struct pace_backoff *b)
{
    int64_t step = b->first_ms;

    for (unsigned int i = 0; i < b->failures && step < b->max_ms; i++)
        step *= 2;
    step = MIN(step, b->max_ms);
    b->failures++;
    return pace_random((step + 1) / 2, step);
}

void pace_backoff_reset(struct pace_backoff *b)
{
    b->failures = 0;
}

int64_t pace_random(int64_t low, int64_t high)
{
    uint64_t bits;

    if (high <= low)
        return low;
    encode_random(&bits, sizeof(bits));
    return low + (int64_t)(bits % (uint64_t)(high - low + 1));
}
