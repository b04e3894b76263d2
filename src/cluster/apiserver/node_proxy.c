/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The way from kubectl to the node process: logs, exec, attach, port-forward.
 *
 * The request has been checked; it goes on with the path that the node knows, and from then on
 * bytes are carried both ways as they come (http/tunnel.h).  So sessions (SPDY or WebSocket) and
 * streams (logs -f) are the node's business alone, and the connection ends with them.
 */
#include "src/cluster/apiserver/node_proxy.h"

#include "src/base/encode.h"
#include "src/cluster/apiserver/answer.h"
#include "src/cluster/apiserver/server.h"
#include "src/cluster/apiserver/status.h"
#include "src/http/tunnel.h"

static void add_segment(struct buf *b, const char *text)
{
    buf_addc(b, '/');
    encode_url(b, str_of(text));
}

/* "/exec/NAMESPACE/POD/CONTAINER?command=date" */
static void write_target(struct buf *b, const struct api_call *c, const char *what)
{
    const struct http_request *q = http_exchange_request(c->exchange);
    const char *container = call_param(c, "container");

    add_segment(b, what);
    add_segment(b, c->ns);
    add_segment(b, c->name);
    if (container && container[0])
        add_segment(b, container);
    buf_printf(b, "%s%s", q->query[0] ? "?" : "", q->query);
}

void node_proxy_pass(struct api_call *c, const char *what)
{
    AUTO(buf_done) struct buf target = {0};
    struct http_tunnel_options o = {.unix_path = c->server->node_socket};
    struct err e = {0};

    write_target(&target, c, what);
    o.target = buf_str(&target);
    if (http_tunnel(c->exchange, &o, &e) < 0) {
        (void)status_fail(c, 503, "ServiceUnavailable",
                          "pod %s: the node process does not answer (%s): is 'slurmkeeper node' "
                          "running?",
                          c->name, strerror(-e.num));
        answer_failure(c);
        return;
    }
    c->exchange = NULL;
    call_free(c);
}
