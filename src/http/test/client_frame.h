/* SPDX-License-Identifier: GPL-2.0-or-later */
/* WebSocket frames as a client sends them, for the tests. */
#pragma once

#include "src/base/buf.h"

/* Append a masked frame; first is its first byte (0x80 | opcode for a whole message). */
static inline void client_frame(struct buf *b, int first, struct str data)
{
    static const unsigned char mask[4] = {0x12, 0x34, 0x56, 0x78};

    buf_addc(b, (char)first);
    if (data.n < 126) {
        buf_addc(b, (char)(0x80 | data.n));
    } else {
        buf_addc(b, (char)(data.n < 65536 ? 0xfe : 0xff));
        for (int shift = data.n < 65536 ? 8 : 56; shift >= 0; shift -= 8)
            buf_addc(b, (char)((uint64_t)data.n >> shift));
    }
    buf_add(b, mask, 4);
    for (size_t i = 0; i < data.n; i++)
        buf_addc(b, (char)(data.p[i] ^ mask[i & 3]));
}
