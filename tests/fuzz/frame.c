/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz target: frames between the agent and its children.
 *
 * The first byte says into which pieces the rest is cut.  However it is cut, the same bodies come
 * out, and what comes out goes in again as the same bytes.
 */
#include "src/agent/frame.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Feed in pieces; the bodies are appended to `out` as frames.  Returns what the last peek said. */
static int feed(const uint8_t *data, size_t size, size_t piece, struct buf *out)
{
    AUTO(buf_done) struct buf in = {0};
    struct str body;
    int r = 0;

    for (size_t at = 0; at < size; at += piece) {
        if (frame_want(&in) == 0)
            abort();
        buf_add(&in, data + at, MIN(piece, size - at));
        while ((r = frame_peek(&in, &body)) > 0) {
            frame_add(out, body);
            frame_drop(&in);
        }
        if (r < 0)
            return r;
    }
    return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(buf_done) struct buf whole = {0};
    AUTO(buf_done) struct buf cut = {0};
    int r;

    if (size < 2)
        return 0;
    r = feed(data + 1, size - 1, size, &whole);
    if (feed(data + 1, size - 1, (size_t)data[0] + 1, &cut) != r ||
        !str_eq(buf_view(&whole), buf_view(&cut)) || whole.n > size - 1 ||
        memcmp(buf_str(&whole), data + 1, whole.n) != 0)
        abort();
    return 0;
}
