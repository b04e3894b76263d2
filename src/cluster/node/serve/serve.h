/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the node answers over STATE/node.sock: logs, exec, attach, port-forward. */
#pragma once

#include "src/cluster/node/node_private.h"
#include "src/http/url.h"

/* Listen.  Paths are /logs|exec|attach/NAMESPACE/POD[/CONTAINER] and /portforward/NAMESPACE/POD,
 * with the query of the API's own request. */
int serve_open(struct node *n, struct err *e) MUST_CHECK;

struct container;

/* A request about a container, found; each takes the exchange over and answers it. */
void serve_logs(struct container *c, struct http_exchange *x, const struct url_query *q);
void serve_exec(struct container *c, struct http_exchange *x, const struct url_query *q);
void serve_attach(struct container *c, struct http_exchange *x, const struct url_query *q);
void serve_port_forward(struct worker *w, struct http_exchange *x, const struct url_query *q);

/* Answer with a Status object, as the API server would. */
void serve_refuse(struct http_exchange *x, int code, const char *reason, const char *fmt, ...)
    PRINTF(4, 5);
