/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests about running pods, passed on to the node process over its socket. */
#pragma once

struct api_call;

/*
 * Hand a checked request over to the node process, which answers it: `what` is "logs", "exec",
 * "attach" or "portforward".  Takes the call; where no node process answers, the client gets 503.
 */
void node_proxy_pass(struct api_call *c, const char *what);
