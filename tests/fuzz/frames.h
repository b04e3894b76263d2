/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What clients of exec and port-forward say, in frames that are well made. */
#pragma once

#include "src/http/spdy_block.h"
#include "tests/fuzz/peers.h"

/*
 * A fuzzer hardly ever finds a compressed header or a mask by itself; these steps make frames out
 * of what has gathered since the last of them, and leave them gathered instead:
 *
 *   Y n   SPDY: open a stream with the n-th set of headers; what has gathered stays before it
 *   D n   SPDY: data on the stream 2 * (n % 16) + 1; 0x80 set: the last
 *   Z n   SPDY: reset that stream
 *   M n   WebSocket: a masked frame whose first byte is n
 */
struct frames {
    struct spdy_blocks blocks[PEERS];
    bool begun[PEERS];
    uint32_t next[PEERS];
    size_t from[PEERS];        /* where in `gathered` the next frame begins */
    unsigned int sends[PEERS]; /* as of which send that is true */
};

void frames_done(struct frames *f);
/* True if the step was one of the above. */
bool frames_step(struct frames *f, struct peers *p, char step, unsigned char n);
/* The connection is another: streams and headers begin again. */
void frames_closed(struct frames *f, size_t i);
