/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A server and a scripted peer on a socket pair, in one thread, for the tests of the server. */
#pragma once

#include "src/base/test/unit.h"

#include "src/http/server.h"

struct rig {
    struct loop *loop;
    struct http_server *server;
    int peer; /* the client's end; -1 when closed */
    struct buf got;
    bool ended; /* the server has closed */
};

/* The handler gets the rig's `arg`.  limits may be NULL. */
void rig_init(struct rig *r, http_handler_fn handler, void *arg, const struct http_limits *limits);
void rig_init_with(struct rig *r, const struct http_server_options *o);
void rig_done(struct rig *r);
/* Another connection to the same server, in place of the first, which is closed. */
void rig_reconnect(struct rig *r);
/* One more connection, beside the rig's own; the client's end, which does not block. */
int rig_plug(struct rig *r);
/* Let the loop run until it has nothing to do for wait_ms; what the server says goes to `got`. */
void rig_settle(struct rig *r, int wait_ms);
void rig_send(struct rig *r, const char *text);
void rig_send_bytes(struct rig *r, struct str bytes);
/* Send, settle, and yield all that was answered since the last time; owned by the rig. */
const char *rig_ask(struct rig *r, const char *text);
void rig_hang_up(struct rig *r);

/* What follows the empty line of an answer. */
const char *answer_body(const char *answer);
