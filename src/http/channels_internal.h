/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of exec's channels share; nobody else includes it. */
#pragma once

#include "src/http/carrier.h"
#include "src/http/channels.h"
#include "src/http/spdy.h"

#define CHANNELS 5

/* How a transport does it. */
struct channels_transport {
    void (*write)(struct channels *ch, enum channel to, struct str data);
    size_t (*backlog)(const struct channels *ch);
    void (*pause)(struct channels *ch, bool on);
    /* Send the status, end all streams, flush and close. */
    void (*end)(struct channels *ch, struct str status_json);
    /* Close at once. */
    void (*abandon)(struct channels *ch);
};

struct channels {
    struct loop *loop;
    struct channels_options options;
    const struct channels_transport *transport;
    enum { CHANNELS_OPENING, CHANNELS_DUE, CHANNELS_READY } state; /* DUE: ready, but not told */
    bool over; /* the owner's handle is invalid */
    bool in_ended;
    struct loop_source *timer; /* to ready, or until all streams must be there */
    struct buf resize;         /* a size that has not arrived whole */

    struct websocket *ws;
    bool v5;

    struct carrier carrier;
    struct spdy *spdy;
    struct spdy_stream *streams[CHANNELS];
};

/* Is this stream part of the session? */
bool channels_wants(const struct channels *ch, enum channel c);

/* Told by the transports. */
void channels_ready_soon(struct channels *ch);
void channels_tell_ready(struct channels *ch);
void channels_got(struct channels *ch, enum channel from, struct str data);
void channels_got_end(struct channels *ch, enum channel from);
void channels_drained(struct channels *ch);
void channels_client_gone(struct channels *ch);

int channels_ws_open(struct channels *ch, struct http_exchange *x, int *ret_status,
                     struct err *e) MUST_CHECK;
int channels_spdy_open(struct channels *ch, struct http_exchange *x, int *ret_status,
                       struct err *e) MUST_CHECK;
void channels_spdy_done(struct channels *ch);
