/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Feeding a stream as fast as its client reads, a piece at a time. */
#pragma once

#include "src/http/server.h"

/* About how much a piece is, and how much may wait for the client before the next one. */
#define PUMP_PIECE_BYTES ((size_t)256 << 10)

enum pump_result {
    PUMP_MORE, /* call again when the client has read */
    PUMP_WAIT, /* nothing more for now; pump_start goes on */
    PUMP_GONE, /* the stream is over, and the pump has been done away with */
};
/* Write one piece to the stream. */
typedef enum pump_result (*pump_fn)(void *arg);

struct pump {
    struct http_exchange *exchange; /* its stream has begun */
    struct loop_source *timer;
    pump_fn fn;
    void *arg;
    bool running;
};

void pump_init(struct pump *p, struct http_exchange *x, pump_fn fn, void *arg);
void pump_done(struct pump *p);
/* The first piece is written now; the stream may be over afterwards. */
void pump_start(struct pump *p);
