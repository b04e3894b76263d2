/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Scripts, and the clock that they move.
 *
 * The linker sends the program's calls of clock_mono_ms, clock_mono_ns and clock_wall_us here
 * (--wrap), so that a deadline of minutes is a step of the script, and the same input always does
 * the same; and those of log_line, for a fuzzer would write thousands of them a second.
 */
#include "tests/fuzz/script.h"

#include <stdarg.h>
#include <stdio.h>

#include "src/base/clock.h"
#include "src/base/log.h"

int64_t __wrap_clock_mono_ms(void);
int64_t __wrap_clock_mono_ns(void);
int64_t __wrap_clock_wall_us(void);
void __wrap_log_line(enum log_level level, const char *fmt, ...) PRINTF(2, 3);

#define BOOT_MS 1000000
#define WALL_US ((int64_t)1767952800 * 1000000) /* 2026-01-09T10:00:00Z */

static int64_t passed_ms;

int64_t __wrap_clock_mono_ms(void)
{
    return BOOT_MS + passed_ms;
}

int64_t __wrap_clock_mono_ns(void)
{
    return (BOOT_MS + passed_ms) * 1000000;
}

int64_t __wrap_clock_wall_us(void)
{
    return WALL_US + passed_ms * 1000;
}

/* Lines are made, so that a bad argument is found, and not written. */
void __wrap_log_line(enum log_level level, const char *fmt, ...)
{
    char line[512];
    va_list ap;

    (void)level;
    va_start(ap, fmt);
    (void)vsnprintf(line, sizeof(line), fmt, ap);
    va_end(ap);
}

void script_clock_reset(void)
{
    passed_ms = 0;
}

void script_clock_advance(int64_t ms)
{
    passed_ms += ms;
}

void script_init(struct script *s, const uint8_t *data, size_t size)
{
    s->rest = (struct str){(const char *)data, size};
}

static void eat(struct script *s, size_t n)
{
    s->rest = (struct str){s->rest.p + n, s->rest.n - n};
}

struct script_item script_next(struct script *s)
{
    struct script_item item = {SCRIPT_END};
    const char *mark;

    if (s->rest.n == 0)
        return item;
    mark = memchr(s->rest.p, SCRIPT_MARK, s->rest.n);
    item.bytes = (struct str){s->rest.p, mark ? (size_t)(mark - s->rest.p) : s->rest.n};
    if (item.bytes.n > 0) {
        item.kind = SCRIPT_BYTES;
        eat(s, item.bytes.n);
    } else if (s->rest.n >= 2 && (unsigned char)s->rest.p[1] == SCRIPT_MARK) {
        item = (struct script_item){.kind = SCRIPT_BYTES, .bytes = {s->rest.p, 1}};
        eat(s, 2);
    } else if (s->rest.n >= 3) {
        item = (struct script_item){
            .kind = SCRIPT_STEP, .step = s->rest.p[1], .arg = (unsigned char)s->rest.p[2]};
        eat(s, 3);
    }
    return item;
}
