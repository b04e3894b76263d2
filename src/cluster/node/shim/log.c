/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The log of a container: one line of output a line, with time and stream in front.
 *
 *   2026-01-09T10:00:00.123456000Z stdout F the text
 *
 * F ends a line of output, P is a piece of one that is too long or has no end yet.  Beyond
 * max_bytes the file becomes FILE.1, that one FILE.2, and so on; the oldest goes.  A log that
 * cannot be written (a full disk) loses lines and stops nobody.
 *
 * Who writes without end must not push out what others wrote: as much as all files hold may come at
 * once, then RATE bytes a second.  What is beyond is not written, and a line tells how much that
 * was.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "src/base/clock.h"
#include "src/base/file.h"
#include "src/cluster/node/shim/shim.h"

#define MAX_LINE ((size_t)16384)
#define RATE ((int64_t)1 << 20)
#define SECOND_US INT64_C(1000000)

void shim_log_open(struct shim_log *l)
{
    struct stat st;

    l->fd = open(l->path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
    l->size = l->fd >= 0 && fstat(l->fd, &st) == 0 ? st.st_size : 0;
}

static void rotated_name(const struct shim_log *l, unsigned int i, struct buf *b)
{
    buf_clear(b);
    buf_adds(b, l->path);
    if (i)
        buf_printf(b, ".%u", i);
}

static void rotate(struct shim_log *l)
{
    AUTO(buf_done) struct buf from = {0};
    AUTO(buf_done) struct buf to = {0};

    for (unsigned int i = l->max_files - 1; i > 0; i--) {
        rotated_name(l, i - 1, &from);
        rotated_name(l, i, &to);
        (void)rename(buf_str(&from), buf_str(&to));
    }
    if (l->fd >= 0)
        (void)close(l->fd);
    shim_log_open(l);
}

static void add_line(struct buf *b, int stream, char tag, struct str text, int64_t wall_us)
{
    char time[CLOCK_RFC3339_LEN];

    clock_rfc3339_micro(wall_us, time);
    buf_printf(b, "%.26s000Z %s %c ", time, stream == 2 ? "stderr" : "stdout", tag);
    buf_addstr(b, text);
    buf_addc(b, '\n');
}

/* How much may come at once: what all files hold, and never less than a second's worth. */
static int64_t burst(const struct shim_log *l)
{
    return MAX(l->max_bytes * l->max_files, RATE);
}

/* May this many more bytes be written?  A bucket that fills with time. */
static bool has_room(struct shim_log *l, size_t n, int64_t wall_us)
{
    int64_t most = burst(l);
    int64_t passed = l->filled_us ? wall_us - l->filled_us : 0;

    if (l->filled_us == 0)
        l->room = most;
    if (passed > 0) /* a clock that was put back gives nothing */
        l->room = MIN(most, l->room + MIN(passed, SECOND_US * 3600) * RATE / SECOND_US);
    l->filled_us = wall_us;
    if (l->room < (int64_t)n)
        return false;
    l->room -= (int64_t)n;
    return true;
}

static void tell_dropped(struct shim_log *l, struct buf *out, int64_t wall_us)
{
    AUTO(buf_done) struct buf text = {0};

    buf_printf(&text, "slurmkeeper: %lld bytes of output were not kept: they came too fast",
               (long long)l->dropped);
    add_line(out, 2, 'F', buf_view(&text), wall_us);
    l->dropped = 0;
}

static void emit(struct shim_log *l, struct buf *out)
{
    if (l->size > 0 && l->size + (int64_t)out->n > l->max_bytes && l->max_files > 1)
        rotate(l);
    if (l->fd < 0)
        shim_log_open(l);
    if (l->fd >= 0 && file_write_all(l->fd, buf_view(out)) == 0)
        l->size += (int64_t)out->n;
}

/* Write what there is room for.  A flood is let in again when a tenth of all can be. */
static void pass(struct shim_log *l, struct buf *out, int64_t wall_us)
{
    AUTO(buf_done) struct buf note = {0};
    size_t least = l->dropped ? MAX(out->n, (size_t)(burst(l) / 10)) : out->n;

    if (!out->n)
        return;
    if (!has_room(l, least, wall_us)) {
        l->dropped += (int64_t)out->n;
        return;
    }
    l->room += (int64_t)(least - out->n);
    if (l->dropped) {
        tell_dropped(l, &note, wall_us);
        emit(l, &note);
    }
    emit(l, out);
}

void shim_log_write(struct shim_log *l, int stream, struct str data, int64_t wall_us)
{
    AUTO(buf_done) struct buf out = {0};
    struct buf *part = &l->partial[stream == 2];

    while (data.n > 0) {
        size_t n = str_find(data, '\n');
        bool ends = n < data.n;
        size_t room = MAX_LINE - part->n;

        if (n > room) {
            ends = false;
            n = room;
        }
        buf_add(part, data.p, n);
        data = (struct str){data.p + n + ends, data.n - n - ends};
        if (!ends && part->n < MAX_LINE)
            break;
        add_line(&out, stream, ends ? 'F' : 'P', buf_view(part), wall_us);
        buf_clear(part);
    }
    pass(l, &out, wall_us);
}

void shim_log_close(struct shim_log *l, int64_t wall_us)
{
    for (int stream = 1; stream <= 2; stream++) {
        AUTO(buf_done) struct buf out = {0};
        struct buf *part = &l->partial[stream == 2];

        if (part->n)
            add_line(&out, stream, 'P', buf_view(part), wall_us);
        pass(l, &out, wall_us);
        buf_done(part);
    }
    if (l->dropped) {
        AUTO(buf_done) struct buf note = {0};

        tell_dropped(l, &note, wall_us);
        emit(l, &note);
    }
    if (l->fd >= 0)
        (void)close(l->fd);
    l->fd = -1;
}
