/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The log of a container, for readers.
 *
 *   2026-01-09T10:00:00.123456000Z stdout F the text
 *
 * A partial line (P) has no end of its own.  The tail is counted in lines of output, so partial
 * ones count together with the one that ends them.  Rotated files (LOG.2, LOG.1) come before the
 * log.
 */
#include "src/cluster/node/serve/log_lines.h"

#include "src/base/alloc.h"
#include "src/base/clock.h"
#include "src/base/file.h"

#define MAX_LOG_BYTES ((size_t)64 << 20)
#define MAX_ROTATED 9

bool log_line_parse(struct str line, struct log_line *ret)
{
    struct str rest = line, stream, tag;

    if (!str_split(&rest, ' ', &ret->time) || !str_split(&rest, ' ', &stream) ||
        !str_split(&rest, ' ', &tag))
        return false;
    if ((!str_eqz(stream, "stdout") && !str_eqz(stream, "stderr")) || tag.n != 1)
        return false;
    ret->is_stderr = str_eqz(stream, "stderr");
    ret->partial = tag.p[0] == 'P';
    ret->text = rest.p ? rest : (struct str){"", 0};
    return true;
}

void log_line_print(const struct log_query *q, const struct log_line *l, bool *mid_line,
                    struct buf *out)
{
    int64_t when;

    if (q->since_us && clock_parse_rfc3339(l->time, &when) == 0 && when < q->since_us)
        return;
    if (q->limit_bytes && (int64_t)out->n >= q->limit_bytes)
        return;
    if (q->timestamps && !*mid_line)
        buf_printf(out, STR_FMT " ", STR_ARG(l->time));
    buf_addstr(out, l->text);
    if (!l->partial)
        buf_addc(out, '\n');
    *mid_line = l->partial;
    if (q->limit_bytes && (int64_t)out->n > q->limit_bytes) {
        out->n = (size_t)q->limit_bytes;
        out->p[out->n] = '\0';
    }
}

static void read_files(const char *path, struct buf *all)
{
    for (int i = MAX_ROTATED; i >= 0; i--) {
        AUTO(free) char *name = i ? xasprintf("%s.%d", path, i) : xstrdup(path);
        AUTO(free) char *text = NULL;
        size_t n;

        if (file_read(name, MAX_LOG_BYTES, &text, &n, NULL) == 0)
            buf_add(all, text, n);
    }
}

/* Where the last `lines` lines of output begin. */
static size_t tail_offset(struct str all, int64_t lines)
{
    size_t end = all.n;
    int64_t seen = 0;

    while (end > 0) {
        size_t begin = end - (all.p[end - 1] == '\n');
        struct log_line l;

        while (begin > 0 && all.p[begin - 1] != '\n')
            begin--;
        if (log_line_parse((struct str){all.p + begin, end - begin}, &l) && !l.partial)
            if (++seen > lines)
                return end;
        end = begin;
    }
    return 0;
}

int log_lines_read(const char *path, const struct log_query *q, struct buf *out)
{
    AUTO(buf_done) struct buf all = {0};
    struct str rest, line;
    bool mid_line = false;

    if (q->none_at_all)
        return 0;
    read_files(path, &all);
    rest = buf_view(&all);
    if (q->tail > 0) {
        size_t skip = tail_offset(rest, q->tail);

        rest = (struct str){rest.p + skip, rest.n - skip};
    }
    while (rest.n && str_split(&rest, '\n', &line)) {
        struct log_line l;

        if (log_line_parse(line, &l))
            log_line_print(q, &l, &mid_line, out);
    }
    return out->overflow ? -EMSGSIZE : 0;
}
