/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * WebSocket over an upgraded connection.
 *
 *   OPEN -> CLOSING (we said goodbye, wait for the peer's) -> gone
 *   OPEN -> gone (the peer said goodbye, or vanished)
 *
 * The owner's handle ends when it closes, or when it is told of the end; what is left to wait for
 * is done here alone, under a timer.
 */
#include "src/http/websocket.h"

#include <openssl/evp.h>

#include "src/base/alloc.h"
#include "src/base/encode.h"

#define GOODBYE_MS 5000
#define MAX_MESSAGE_BYTES ((size_t)1 << 20)
#define MAX_REASON 120

struct websocket {
    struct loop *loop;
    struct http_raw *raw; /* NULL once closed */
    struct frame_decoder decoder;
    struct websocket_events events;
    void *arg;
    bool closing; /* the owner has let go */
    struct loop_source *timer;
};

bool websocket_wanted(const struct http_exchange *x)
{
    return http_request_lists(x, "Upgrade", "websocket");
}

static const char *find(const char *const *protocols, struct str name)
{
    for (; protocols && *protocols; protocols++) {
        if (str_eqz(name, *protocols))
            return *protocols;
    }
    return NULL;
}

const char *websocket_choose(const struct http_exchange *x, const char *const *protocols)
{
    const char *header;

    for (size_t i = 0; (header = http_request_header_at(x, "Sec-WebSocket-Protocol", i)); i++) {
        struct str rest = str_of(header);
        struct str offered;

        while (str_split(&rest, ',', &offered)) {
            const char *found = find(protocols, str_trim(offered));

            if (found)
                return found;
        }
    }
    return NULL;
}

static int check_handshake(const struct http_exchange *x, int *ret_status, struct err *e)
{
    const char *version = http_request_header(x, "Sec-WebSocket-Version");
    const char *key = http_request_header(x, "Sec-WebSocket-Key");
    AUTO(buf_done) struct buf raw = {0};

    *ret_status = 400;
    if (!streq(http_exchange_request(x)->method, "GET") || !websocket_wanted(x) ||
        !http_request_lists(x, "Connection", "upgrade"))
        return err_bad(e, "this is not a WebSocket handshake");
    if (!key || decode_base64(&raw, str_of(key)) < 0 || raw.n != 16)
        return err_bad(e, "Sec-WebSocket-Key is not 16 bytes in base64");
    if (!streq(version, "13")) {
        *ret_status = 426;
        return err_bad(e, "only version 13 of WebSocket is spoken here");
    }
    return 0;
}

/* What proves to the client that a WebSocket server has read its key. */
static void add_proof(struct buf *b, const char *key)
{
    AUTO(free) char *text = xasprintf("%s258EAFA5-E914-47DA-95CA-C5AB0DC85B11", key);
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned int n = 0;

    if (EVP_Digest(text, strlen(text), digest, &n, EVP_sha1(), NULL) != 1)
        abort();
    encode_base64(b, (struct str){(char *)digest, n});
}

static void bury(void *arg)
{
    struct websocket *ws = arg;

    frame_decoder_done(&ws->decoder);
    free(ws);
}

/* Nothing is left to do. */
static void retire(struct websocket *ws)
{
    ws->timer = loop_source_free(ws->timer);
    loop_defer_free(ws->loop, bury, ws);
}

static void send_frame(struct websocket *ws, enum frame_opcode opcode, struct str head,
                       struct str data)
{
    unsigned char frame[FRAME_HEAD_MAX];
    size_t n = frame_encode_head(opcode, head.n + data.n, frame);

    http_raw_write(ws->raw, (struct str){(char *)frame, n});
    http_raw_write(ws->raw, head);
    http_raw_write(ws->raw, data);
}

static void send_close(struct websocket *ws, int code, const char *reason)
{
    char head[2] = {(char)(code >> 8), (char)code};
    size_t n = reason ? strnlen(reason, MAX_REASON) : 0;

    send_frame(ws, FRAME_CLOSE, (struct str){head, 2}, (struct str){reason, n});
}

/* Close the connection and tell the owner, if it still holds the handle. */
static void end(struct websocket *ws, int code)
{
    bool tell = !ws->closing;

    ws->closing = true;
    http_raw_close(TAKE(ws->raw));
    retire(ws);
    if (tell)
        ws->events.on_close(ws->arg, code);
}

static void peer_closed(struct websocket *ws, struct str data)
{
    int code = FRAME_NO_CODE;

    if (data.n >= 2)
        code = (unsigned char)data.p[0] << 8 | (unsigned char)data.p[1];
    if (data.n == 1 || (data.n >= 2 && !frame_code_ok(code)))
        code = FRAME_PROTOCOL_ERROR;
    if (!ws->closing)
        send_close(ws, code == FRAME_NO_CODE ? FRAME_NORMAL : code, NULL);
    end(ws, code);
}

static bool frame_arrived(void *arg, enum frame_opcode opcode, struct str data)
{
    struct websocket *ws = arg;

    switch (opcode) {
    case FRAME_TEXT:
    case FRAME_BINARY:
        if (!ws->closing)
            ws->events.on_message(ws->arg, opcode, data);
        break;
    case FRAME_PING:
        if (!ws->closing)
            send_frame(ws, FRAME_PONG, data, (struct str){0});
        break;
    case FRAME_CLOSE:
        peer_closed(ws, data);
        break;
    case FRAME_PONG:
    case FRAME_CONTINUATION:
        break;
    }
    return ws->raw != NULL;
}

static void bytes_arrived(void *arg, struct str data)
{
    struct websocket *ws = arg;
    int code = frame_decode(&ws->decoder, data, frame_arrived, ws);

    if (code == 0)
        return;
    if (!ws->closing)
        send_close(ws, code, NULL);
    end(ws, code);
}

static void connection_gone(void *arg)
{
    struct websocket *ws = arg;
    bool tell = !ws->closing;

    ws->raw = NULL;
    ws->closing = true;
    retire(ws);
    if (tell)
        ws->events.on_close(ws->arg, FRAME_ABNORMAL);
}

static void drained(void *arg)
{
    struct websocket *ws = arg;

    if (!ws->closing && ws->events.on_drain)
        ws->events.on_drain(ws->arg);
}

static void goodbye_missed(void *arg)
{
    end(arg, FRAME_ABNORMAL);
}

int websocket_accept(struct http_exchange *x, const struct websocket_options *o,
                     struct websocket **ret_ws, int *ret_status, struct err *e)
{
    const char *protocol = websocket_choose(x, o->protocols);
    AUTO(buf_done) struct buf headers = {0};
    struct websocket *ws;
    int r;

    r = check_handshake(x, ret_status, e);
    if (r < 0)
        return r;
    if (o->protocols && !protocol)
        return err_bad(e, "none of the offered WebSocket protocols is spoken here");
    buf_adds(&headers, "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ");
    add_proof(&headers, http_request_header(x, "Sec-WebSocket-Key"));
    buf_adds(&headers, "\r\n");
    if (protocol)
        buf_printf(&headers, "Sec-WebSocket-Protocol: %s\r\n", protocol);
    ws = xcalloc(1, sizeof(*ws));
    ws->loop = http_exchange_loop(x);
    ws->events = o->events;
    ws->arg = o->arg;
    frame_decoder_init(&ws->decoder,
                       o->max_message_bytes ? o->max_message_bytes : MAX_MESSAGE_BYTES);
    ws->timer = loop_add_timer(ws->loop, goodbye_missed, ws);
    ws->raw = http_upgrade(x, buf_str(&headers), bytes_arrived, connection_gone, ws);
    http_raw_on_drain(ws->raw, drained, ws);
    *ret_ws = ws;
    return 0;
}

void websocket_send(struct websocket *ws, enum frame_opcode opcode, struct str head,
                    struct str data)
{
    if (!ws->closing)
        send_frame(ws, opcode, head, data);
}

size_t websocket_backlog(const struct websocket *ws)
{
    return http_raw_backlog(ws->raw);
}

void websocket_pause(struct websocket *ws, bool on)
{
    if (!ws->closing)
        http_raw_pause(ws->raw, on);
}

void websocket_close(struct websocket *ws, int code, const char *reason)
{
    if (ws->closing)
        return;
    ws->closing = true;
    send_close(ws, code, reason);
    http_raw_pause(ws->raw, false); /* or the goodbye is never read */
    loop_timer_arm(ws->timer, GOODBYE_MS);
}
