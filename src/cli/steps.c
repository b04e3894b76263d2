/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A list of steps on standard error.
 *
 * On a terminal all steps stand there from the start, and the list is drawn again in place, with
 * the time each takes.  Elsewhere there is a line when a step ends.
 */
#include "src/cli/steps.h"

#include <stdio.h>

#include "src/base/clock.h"

#define TITLE_WIDTH 12

void steps_init(struct steps *s, const char *const *titles)
{
    const char *terminal = getenv("TERM");

    *s = (struct steps){0};
    s->live = isatty(STDERR_FILENO) && terminal && !streq(terminal, "dumb");
    for (; titles[s->n] && s->n < STEPS_MAX; s->n++)
        s->items[s->n].title = titles[s->n];
    s->at = (size_t)-1;
}

static const char *mark(const struct steps *s, enum step_state state)
{
    static const char *const plain[] = {"      ", "...   ", "ok    ", "failed"};
    static const char *const coloured[] = {"\033[2m·\033[0m", "\033[36m>\033[0m",
                                           "\033[32m✓\033[0m", "\033[31m✗\033[0m"};

    return s->live ? coloured[state] : plain[state];
}

static int64_t time_of(const struct step *x)
{
    return x->state == STEP_RUNNING ? clock_mono_ms() - x->started_ms : x->took_ms;
}

static void print(const struct steps *s, const struct step *x, struct buf *b)
{
    buf_printf(b, "%s %-*s", mark(s, x->state), TITLE_WIDTH, x->title);
    if (x->state == STEP_WAITING)
        buf_adds(b, "         ");
    else
        buf_printf(b, " %5.1f s ", (double)time_of(x) / 1000);
    buf_printf(b, " %s%s\n", x->note, s->live ? "\033[K" : "");
}

static void draw(struct steps *s)
{
    AUTO(buf_done) struct buf b = {0};

    if (s->drawn)
        buf_printf(&b, "\033[%zuA", s->n);
    for (size_t i = 0; i < s->n; i++)
        print(s, &s->items[i], &b);
    s->drawn = true;
    (void)fputs(buf_str(&b), stderr);
}

/* Something changed in the running step. */
static void show(struct steps *s)
{
    AUTO(buf_done) struct buf b = {0};

    if (s->live) {
        draw(s);
    } else if (s->items[s->at].state > STEP_RUNNING) {
        print(s, &s->items[s->at], &b);
        (void)fputs(buf_str(&b), stderr);
    }
}

static PRINTF(2, 0) void set_note(struct step *x, const char *fmt, va_list ap)
{
    (void)vsnprintf(x->note, sizeof(x->note), fmt, ap);
    for (char *c = x->note; *c; c++)
        if (*c == '\n')
            *c = ' ';
}

void steps_append(struct steps *s, const char *title)
{
    assert(s->n < STEPS_MAX);
    s->items[s->n++] = (struct step){.title = title};
}

void steps_begin(struct steps *s)
{
    s->at++;
    s->items[s->at].state = STEP_RUNNING;
    s->items[s->at].started_ms = clock_mono_ms();
    show(s);
}

void steps_note(struct steps *s, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    set_note(&s->items[s->at], fmt, ap);
    va_end(ap);
    show(s);
}

static void finish(struct steps *s, enum step_state state)
{
    struct step *x = &s->items[s->at];

    x->took_ms = clock_mono_ms() - x->started_ms;
    x->state = state;
    show(s);
}

void steps_done(struct steps *s, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    set_note(&s->items[s->at], fmt, ap);
    va_end(ap);
    finish(s, STEP_DONE);
}

void steps_fail(struct steps *s)
{
    if (s->at < s->n && s->items[s->at].state == STEP_RUNNING)
        finish(s, STEP_FAILED);
}
