/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From an HTTP request to its verb. */
#pragma once

#include "src/http/server.h"

/* http_handler_fn and http_refusal_fn of the API server; arg is its struct apiserver. */
void dispatch_request(void *arg, struct http_exchange *x);
/* Whether the sender of a request has credentials, before its body is read. */
void dispatch_head(void *arg, const struct http_exchange *x, struct http_verdict *v);
void dispatch_refusal(void *arg, int status, const char *why, struct buf *body,
                      const char **ret_content_type);
