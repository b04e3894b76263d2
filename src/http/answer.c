/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Answers: whole, streamed, refused.
 *
 * Everything is queued in the connection's `out` and leaves at the end of the turn.  An answered
 * exchange is buried at the end of the turn, so that a handler may still look at its request after
 * it has answered; the connection turns to the next request before that.
 */
#include <sys/socket.h>

#include "src/base/alloc.h"
#include "src/http/internal.h"

static const char *reason(int status)
{
    static const struct {
        int status;
        const char *reason;
    } table[] = {
        {200, "OK"},
        {201, "Created"},
        {202, "Accepted"},
        {204, "No Content"},
        {206, "Partial Content"},
        {301, "Moved Permanently"},
        {302, "Found"},
        {304, "Not Modified"},
        {307, "Temporary Redirect"},
        {400, "Bad Request"},
        {401, "Unauthorized"},
        {403, "Forbidden"},
        {404, "Not Found"},
        {405, "Method Not Allowed"},
        {406, "Not Acceptable"},
        {408, "Request Timeout"},
        {409, "Conflict"},
        {410, "Gone"},
        {412, "Precondition Failed"},
        {413, "Request Entity Too Large"},
        {415, "Unsupported Media Type"},
        {417, "Expectation Failed"},
        {422, "Unprocessable Entity"},
        {426, "Upgrade Required"},
        {429, "Too Many Requests"},
        {431, "Request Header Fields Too Large"},
        {500, "Internal Server Error"},
        {501, "Not Implemented"},
        {502, "Bad Gateway"},
        {503, "Service Unavailable"},
        {504, "Gateway Timeout"},
        {505, "HTTP Version Not Supported"},
    };

    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        if (table[i].status == status)
            return table[i].reason;
    }
    return "Status";
}

static void add_head(struct conn *c, int status, const char *content_type, const char *headers)
{
    buf_printf(&c->out, "HTTP/1.1 %d %s\r\nDate: %s\r\n", status, reason(status),
               server_date(c->server));
    if (content_type)
        buf_printf(&c->out, "Content-Type: %s\r\n", content_type);
    if (headers)
        buf_adds(&c->out, headers);
    if (c->close_after)
        buf_adds(&c->out, "Connection: close\r\n");
    else if (c->exchange->head.minor == 0)
        buf_adds(&c->out, "Connection: keep-alive\r\n");
}

static bool has_no_body(int status)
{
    return status < 200 || status == 204 || status == 304;
}

void answer_refusal(struct conn *c, int status, const char *why)
{
    AUTO(buf_done) struct buf body = {0};
    const char *content_type = "text/plain";

    if (c->server->options.refusal)
        c->server->options.refusal(c->server->options.arg, status, why, &body, &content_type);
    else
        buf_printf(&body, "%s\n", why);
    c->close_after = true;
    add_head(c, status, content_type, status == 401 ? "WWW-Authenticate: Bearer\r\n" : NULL);
    buf_printf(&c->out, "Content-Length: %zu\r\n\r\n", body.n);
    buf_addstr(&c->out, buf_view(&body));
}

void exchange_free(struct http_exchange *x)
{
    if (!x)
        return;
    http_head_done(&x->head);
    buf_done(&x->body);
    free(x);
}

static void bury(void *arg)
{
    exchange_free(arg);
}

void exchange_bury(struct conn *c)
{
    loop_defer_free(c->server->loop, bury, TAKE(c->exchange));
}

/* The answer is queued whole: on to the next request, or to the end. */
static void answered(struct conn *c)
{
    exchange_bury(c);
    bodies_release(c);
    c->on_drain = NULL;
    if (c->close_after) {
        c->unread_input = c->in.n > 0;
        buf_done(&c->in);
    }
    conn_set_state(c, c->close_after ? CONN_FLUSH : CONN_IDLE);
    if (c->state == CONN_IDLE && c->in.n > 0 && !c->in_advance)
        conn_look_again(c);
    conn_mark_dirty(c);
}

void http_reply(struct http_exchange *x, int status, const char *content_type, const char *headers,
                struct str body)
{
    struct conn *c = x->conn;

    assert(c->state == CONN_ANSWER && c->exchange == x && !x->streaming);
    add_head(c, status, content_type, headers);
    if (!has_no_body(status))
        buf_printf(&c->out, "Content-Length: %zu\r\n", body.n);
    buf_adds(&c->out, "\r\n");
    if (!has_no_body(status) && !x->is_head)
        buf_addstr(&c->out, body);
    answered(c);
}

void http_stream_begin(struct http_exchange *x, int status, const char *content_type,
                       const char *headers)
{
    struct conn *c = x->conn;

    assert(c->state == CONN_ANSWER && c->exchange == x && !x->streaming);
    x->streaming = true;
    x->chunked = x->head.minor > 0;
    if (!x->chunked)
        c->close_after = true;
    add_head(c, status, content_type, headers);
    buf_adds(&c->out, x->chunked ? "Transfer-Encoding: chunked\r\n\r\n" : "\r\n");
    conn_mark_dirty(c);
}

void http_stream_write(struct http_exchange *x, struct str data)
{
    struct conn *c = x->conn;

    assert(c->state == CONN_ANSWER && c->exchange == x && x->streaming);
    if (data.n == 0 || x->is_head || c->doomed)
        return;
    if (conn_backlog(c) + data.n > c->server->limits.max_stream_backlog_bytes) {
        c->doomed = true;
    } else if (x->chunked) {
        buf_printf(&c->out, "%zx\r\n", data.n);
        buf_addstr(&c->out, data);
        buf_adds(&c->out, "\r\n");
    } else {
        buf_addstr(&c->out, data);
    }
    conn_mark_dirty(c);
}

size_t http_stream_backlog(const struct http_exchange *x)
{
    return conn_backlog(x->conn);
}

void http_stream_on_drain(struct http_exchange *x, loop_defer_fn fn, void *arg)
{
    x->conn->on_drain = fn;
    x->conn->on_drain_arg = arg;
}

void http_stream_end(struct http_exchange *x)
{
    struct conn *c = x->conn;

    assert(c->state == CONN_ANSWER && c->exchange == x && x->streaming);
    if (x->chunked && !x->is_head)
        buf_adds(&c->out, "0\r\n\r\n");
    x->on_close = NULL;
    answered(c);
}

void http_stream_abort(struct http_exchange *x)
{
    const struct linger at_once = {.l_onoff = 1};
    struct conn *c = x->conn;

    assert(c->state == CONN_ANSWER && c->exchange == x && x->streaming);
    x->on_close = NULL;
    c->on_drain = NULL;
    c->doomed = true;
    /* No farewell: without chunks, an orderly end would look like the end of the answer. */
    c->transport.broken = true;
    (void)setsockopt(c->transport.fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    conn_mark_dirty(c);
}

void http_exchange_on_close(struct http_exchange *x, loop_defer_fn fn, void *arg)
{
    x->on_close = fn;
    x->on_close_arg = arg;
}

const struct http_request *http_exchange_request(const struct http_exchange *x)
{
    return &x->request;
}

struct loop *http_exchange_loop(const struct http_exchange *x)
{
    return x->conn->server->loop;
}

bool http_request_lists(const struct http_exchange *x, const char *name, const char *token)
{
    return http_head_lists(&x->head, name, token);
}

const char *http_request_header_at(const struct http_exchange *x, const char *name, size_t i)
{
    return http_head_get(&x->head, name, i);
}

const char *http_request_header_name(const struct http_exchange *x, size_t i,
                                     const char **ret_value)
{
    if (i >= x->head.n_headers)
        return NULL;
    *ret_value = x->head.headers[i].value;
    return x->head.headers[i].name;
}

const char *http_request_header(const struct http_exchange *x, const char *name)
{
    return http_head_get(&x->head, name, 0);
}
