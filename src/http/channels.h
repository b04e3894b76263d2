/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Streams of exec and attach to a Kubernetes client, over SPDY/3.1 or WebSocket. */
#pragma once

#include "src/http/server.h"

/* The numbers are those of the WebSocket protocols. */
enum channel { CHANNEL_STDIN, CHANNEL_STDOUT, CHANNEL_STDERR, CHANNEL_ERROR, CHANNEL_RESIZE };

struct channels; /* one session */

struct channels_events {
    /* All streams are there: the command may start.  Nothing else is called before. */
    void (*on_ready)(void *arg);
    void (*on_stdin)(void *arg, struct str data);
    /* The client will send no more; clients that speak v4 over WebSocket cannot say so. */
    void (*on_stdin_end)(void *arg);
    /* The client's terminal has this size. */
    void (*on_resize)(void *arg, unsigned int width, unsigned int height);
    /* Bytes were sent, and less than 64 KiB wait. */
    void (*on_drain)(void *arg);
    /* The client is gone: stop the command.  The handle is invalid from now on. */
    void (*on_close)(void *arg);
};

struct channels_options {
    bool in; /* which streams the request asks for: its query's stdin, stdout, stderr, tty */
    bool out;
    bool err; /* not together with tty */
    bool tty;
    struct channels_events events; /* all must be set */
    void *arg;
};

/*
 * Accept the request (GET with a WebSocket handshake, or POST with an upgrade to SPDY/3.1) and open
 * a session.  On a bad handshake nothing is answered, e says why and *ret_status which status fits
 * (400, 403, 426); the exchange is still the caller's.  No callback runs before this returns.
 */
int channels_accept(struct http_exchange *x, const struct channels_options *o,
                    struct channels **ret_channels, int *ret_status, struct err *e) MUST_CHECK;

/* Output of the command; `to` is CHANNEL_STDOUT or CHANNEL_STDERR.  What was not asked for is
 * dropped. */
void channels_write(struct channels *ch, enum channel to, struct str data);
/* Bytes that the client has not taken yet: stop reading the command beyond some. */
size_t channels_backlog(const struct channels *ch);
/* Take no more input for a while; the command does not read it. */
void channels_pause(struct channels *ch, bool on);

/*
 * The end, one of two.  What was written is flushed; then the client learns how it went; the
 * handle is invalid from now on and nothing is called back.  exit: the command's exit code (128 +
 * signal if it was killed).  fail: it could not be run.
 */
void channels_exit(struct channels *ch, int code);
void channels_fail(struct channels *ch, const char *message);
