/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDY/3.1, the server's subset that kubectl's exec and port-forward need; no I/O of its own. */
#pragma once

#include "src/base/str.h"

struct spdy; /* one session: many streams over one byte stream */
struct spdy_stream;

struct spdy_events {
    /* Bytes for the peer; they are copied or sent during the call. */
    void (*write)(void *arg, struct str bytes);
    /* The client opened a stream; it is already confirmed. */
    void (*on_stream)(void *arg, struct spdy_stream *s);
    void (*on_data)(void *arg, struct spdy_stream *s, struct str data);
    /* The client will send no more on it.  Not told after a reset. */
    void (*on_fin)(void *arg, struct spdy_stream *s);
    /* The client gave it up; the handle is invalid from now on. */
    void (*on_reset)(void *arg, struct spdy_stream *s);
};

struct spdy *spdy_new(const struct spdy_events *events, void *arg);
/* Streams go with it, without being told. */
struct spdy *spdy_free(struct spdy *s);

/*
 * What the client sent.  Returns 0, 1 when the client ends the session, or -EPROTO when it breaks
 * the protocol (then a GOAWAY was written).  An event that wants to end the session calls spdy_stop
 * and frees it later: nothing more is told.
 */
int spdy_feed(struct spdy *s, struct str data) MUST_CHECK;
void spdy_stop(struct spdy *s);

/* A header of the stream's opening, by its lower-case name; NULL if there is none. */
const char *spdy_stream_header(const struct spdy_stream *s, const char *name);
void spdy_stream_set_arg(struct spdy_stream *s, void *arg);
void *spdy_stream_arg(const struct spdy_stream *s);

/* Send data; with fin, end our half.  Nothing may be written after that. */
void spdy_stream_write(struct spdy_stream *s, struct str data, bool fin);
/* Give the stream up; the handle is invalid from now on. */
void spdy_stream_reset(struct spdy_stream *s);
/* The owner is done with it: once both halves have ended, the handle is invalid. */
bool spdy_stream_ended(const struct spdy_stream *s);
/* Forget a stream whose two halves have ended. */
void spdy_stream_forget(struct spdy_stream *s);
