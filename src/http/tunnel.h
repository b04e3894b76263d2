/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hand a request over to a server on a Unix socket, which answers the client itself. */
#pragma once

#include "src/http/server.h"

struct http_tunnel_options {
    const char *unix_path;
    const char *target;  /* what to ask there: raw path and query */
    const char *headers; /* extra header lines, each "Name: value\r\n", or NULL */
};

/*
 * Send the request on, with its method, headers and body, and pass bytes both ways until either
 * side ends; upgrades (WebSocket, SPDY) go through.  The client's credentials are not sent on: say
 * in `headers` who it is.  The exchange is gone, and whatever happens later ends it.  When the
 * socket cannot be reached nothing is answered and the exchange is still the caller's.
 */
int http_tunnel(struct http_exchange *x, const struct http_tunnel_options *o,
                struct err *e) MUST_CHECK;
