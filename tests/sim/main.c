/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sim [seed=N] [seeds=N] [steps=N] [seconds=N] [safety] [overlap] [terse] [tell]
 *
 * Runs seeds one after the other, from `seed` on, until `seeds` of them are done or the time is
 * over.  The first thing that must not be ends it: the story is made as short as it gets, and told.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/alloc.h"
#include "src/base/clock.h"
#include "src/base/str.h"
#include "tests/sim/sim.h"

#define CALM_EVERY 1500
#define SHORTER_MS 20000 /* to make a story shorter */

struct request {
    uint64_t seed;
    uint64_t seeds;
    uint64_t steps;
    uint64_t seconds;
    bool safety;
    bool overlap;
    bool terse;
    bool tell;
};

static bool run(const struct sim_options *o, struct sim_tally *tally, char *fault, size_t n,
                uint64_t *ret_step)
{
    struct sim *s = xcalloc(1, sizeof(*s));
    bool found = sim_run(s, o);

    if (fault)
        (void)snprintf(fault, n, "%s", s->fault);
    if (ret_step)
        *ret_step = s->step;
    if (tally) {
        tally->steps += s->tally.steps;
        tally->plans += s->tally.plans;
        tally->writes += s->tally.writes;
        tally->faults += s->tally.faults;
        tally->jobs += s->tally.jobs;
        tally->rests += s->tally.rests;
    }
    sim_done(s);
    free(s);
    return found;
}

/* The same fault, with other numbers perhaps? */
static bool is_alike(const char *a, const char *b)
{
    while (*a && *b) {
        while (*a >= '0' && *a <= '9')
            a++;
        while (*b >= '0' && *b <= '9')
            b++;
        if (*a != *b)
            return false;
        if (*a) {
            a++;
            b++;
        }
    }
    return *a == *b;
}

static void set_range(unsigned char *bits, uint64_t from, uint64_t to, const unsigned char *were)
{
    for (uint64_t i = from; i < to; i++)
        bits[i / 8] = (unsigned char)((bits[i / 8] & ~(1U << (i % 8))) |
                                      (were ? were[i / 8] & (1U << (i % 8)) : 1U << (i % 8)));
}

/* Leave steps out, half of what is left at a time and ever less, as long as the fault stays. */
static void shorten(struct sim_options *o, const char *fault, unsigned char *bits)
{
    AUTO(free) unsigned char *before = xcalloc(1, o->steps / 8 + 1);
    char now[512];
    int64_t end_ms = clock_mono_ms() + SHORTER_MS;

    o->left_out = bits;
    for (uint64_t width = o->steps / 2; width >= 1; width /= 2)
        for (uint64_t at = 0; at < o->steps && clock_mono_ms() < end_ms; at += width) {
            memcpy(before, bits, o->steps / 8 + 1);
            set_range(bits, at, MIN(at + width, o->steps), NULL);
            if (!run(o, NULL, now, sizeof(now), NULL) || !is_alike(now, fault))
                memcpy(bits, before, o->steps / 8 + 1);
        }
}

static void tell_story(struct sim_options o, const char *fault, uint64_t step, bool terse)
{
    AUTO(free) unsigned char *bits = xcalloc(1, o.steps / 8 + 1);

    printf("seed %llu, step %llu: %s\n", (unsigned long long)o.seed, (unsigned long long)step,
           fault);
    (void)fflush(stdout);
    if (terse)
        return;
    o.steps = step + 1;
    shorten(&o, fault, bits);
    printf("the shortest story found:\n");
    o.tell = true;
    (void)run(&o, NULL, NULL, 0, NULL);
    printf("again: make sim SEED=%llu STEPS=%llu\n", (unsigned long long)o.seed,
           (unsigned long long)o.steps);
}

static int run_all(const struct request *r)
{
    struct sim_tally tally = {0};
    int64_t start_ms = clock_mono_ms();
    uint64_t seed = r->seed;

    for (; seed < r->seed + r->seeds; seed++) {
        struct sim_options o = {.seed = seed,
                                .steps = r->steps,
                                .calm_every = CALM_EVERY,
                                .safety = r->safety,
                                .overlap = r->overlap,
                                .tell = r->tell};
        char fault[512];
        uint64_t step;

        if (run(&o, &tally, fault, sizeof(fault), &step)) {
            tell_story(o, fault, step, r->terse);
            return 1;
        }
        if (r->seconds && clock_mono_ms() - start_ms > (int64_t)r->seconds * 1000)
            break;
    }
    printf("sim: seeds %llu to %llu: %llu steps in %.1f s, %llu plans, %llu writes, %llu faults, "
           "%llu jobs, %llu times at rest; nothing found\n",
           (unsigned long long)r->seed, (unsigned long long)MIN(seed, r->seed + r->seeds - 1),
           (unsigned long long)tally.steps, (double)(clock_mono_ms() - start_ms) / 1000,
           (unsigned long long)tally.plans, (unsigned long long)tally.writes,
           (unsigned long long)tally.faults, (unsigned long long)tally.jobs,
           (unsigned long long)tally.rests);
    return 0;
}

static bool read_number(const char *word, const char *name, uint64_t *ret)
{
    size_t n = strlen(name);
    int64_t v;

    if (strncmp(word, name, n) != 0 || word[n] != '=' || str_to_i64(str_of(word + n + 1), &v) < 0 ||
        v < 0)
        return false;
    *ret = (uint64_t)v;
    return true;
}

int main(int argc, char **argv)
{
    struct request r = {.seed = 1, .seeds = 1, .steps = 20000};

    for (int i = 1; i < argc; i++) {
        if (streq(argv[i], "tell"))
            r.tell = true;
        else if (streq(argv[i], "safety"))
            r.safety = true;
        else if (streq(argv[i], "overlap"))
            r.overlap = true;
        else if (streq(argv[i], "terse"))
            r.terse = true;
        else if (!read_number(argv[i], "seed", &r.seed) &&
                 !read_number(argv[i], "seeds", &r.seeds) &&
                 !read_number(argv[i], "steps", &r.steps) &&
                 !read_number(argv[i], "seconds", &r.seconds)) {
            fprintf(stderr, "sim: '%s' is not understood; see tests/sim/README.md\n", argv[i]);
            return 2;
        }
    }
    return run_all(&r);
}
