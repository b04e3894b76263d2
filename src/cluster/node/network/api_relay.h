/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The way of pods to the API server, which listens on the machine's loopback address. */
#pragma once

#include "src/base/str.h"
#include "src/loop/loop.h"

struct api_relay;

/* Listen on `address`, a port of the kernel's choice, and pass every connection on to `server`
 * ("https://127.0.0.1:6443").  A server that is elsewhere needs no relay: *ret is NULL then. */
int api_relay_new(struct loop *l, const char *address, const char *server,
                  struct api_relay **ret_relay, struct err *e) MUST_CHECK;
struct api_relay *api_relay_free(struct api_relay *r);
uint16_t api_relay_port(const struct api_relay *r);
