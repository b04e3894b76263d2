/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz target: WebSocket frames from a client.
 *
 * The same messages and the same end must come out whether the bytes arrive together or one by one,
 * and no message may be longer than its cap.
 */
#include "src/base/hash.h"
#include "src/http/frame.h"

#define MAX_MESSAGE 4096

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool note(void *arg, enum frame_opcode opcode, struct str data)
{
    uint64_t *sum = arg;

    assert(data.n <= MAX_MESSAGE && opcode != FRAME_CONTINUATION);
    *sum = *sum * 31 + hash_stable64(data) + opcode;
    return opcode != FRAME_CLOSE;
}

static int run(struct str data, size_t step, uint64_t *ret_sum)
{
    struct frame_decoder d;
    int r = 0;

    frame_decoder_init(&d, MAX_MESSAGE);
    for (size_t i = 0; i < data.n && r == 0; i += step)
        r = frame_decode(&d, (struct str){data.p + i, MIN(step, data.n - i)}, note, ret_sum);
    frame_decoder_done(&d);
    return r;
}

/* Decoding stops at a close frame; so do the bytes here, or the two runs would differ. */
struct cut {
    bool closed;
};

static bool see_close(void *arg, enum frame_opcode opcode, struct str data)
{
    struct cut *c = arg;

    (void)data;
    c->closed |= opcode == FRAME_CLOSE;
    return !c->closed;
}

static size_t until_close(struct str data)
{
    struct frame_decoder d;
    struct cut c = {0};
    size_t n = 0;

    frame_decoder_init(&d, MAX_MESSAGE);
    while (n < data.n && !c.closed) {
        if (frame_decode(&d, (struct str){data.p + n, 1}, see_close, &c) != 0) {
            n = data.n;
            break;
        }
        n++;
    }
    frame_decoder_done(&d);
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str bytes = {(const char *)data, size};
    uint64_t together = 0, bytewise = 0;

    if (size == 0)
        return 0;
    bytes.n = until_close(bytes);
    if (run(bytes, bytes.n, &together) != run(bytes, 1, &bytewise))
        abort();
    if (together != bytewise)
        abort();
    return 0;
}
