/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The log of a container: one line of output a line, with time and stream in front.
 *
 *   2026-01-09T10:00:00.123456000Z stdout F the text
 *
 * F ends a line of output, P is a piece of one that is too long or has no end yet.  Beyond
 * max_bytes the file becomes FILE.1, that one FILE.2, and so on; the oldest goes.  A log that
 * cannot be written (a full disk) loses lines and stops nobody.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "src/base/clock.h"
#include "src/base/file.h"
#include "src/cluster/node/shim/shim.h"

#define MAX_LINE ((size_t)16384)

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

static void emit(struct shim_log *l, struct buf *out)
{
    if (l->size > 0 && l->size + (int64_t)out->n > l->max_bytes && l->max_files > 1)
        rotate(l);
    if (l->fd < 0)
        shim_log_open(l);
    if (l->fd >= 0 && file_write_all(l->fd, buf_view(out)) == 0)
        l->size += (int64_t)out->n;
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
    if (out.n)
        emit(l, &out);
}

void shim_log_close(struct shim_log *l, int64_t wall_us)
{
    for (int stream = 1; stream <= 2; stream++) {
        AUTO(buf_done) struct buf out = {0};
        struct buf *part = &l->partial[stream == 2];

        if (part->n) {
            add_line(&out, stream, 'P', buf_view(part), wall_us);
            emit(l, &out);
        }
        buf_done(part);
    }
    if (l->fd >= 0)
        (void)close(l->fd);
    l->fd = -1;
}
