/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SPDY/3.1 as kubectl speaks it.
 *
 * Frames have a head of eight bytes.  Control frames (SYN_STREAM, RST_STREAM, PING, GOAWAY; all
 * others are skipped) are gathered whole, up to a cap; data frames are passed on as their bytes
 * arrive. Every SYN_STREAM is confirmed at once by an empty SYN_REPLY, which the client waits for.
 *
 * There is no flow control per stream: these clients neither keep windows nor want them kept.
 * Back-pressure is that of the byte stream.
 */
#include "src/http/spdy.h"

#include "src/base/alloc.h"
#include "src/base/list.h"
#include "src/http/spdy_block.h"

#define HEAD_BYTES 8
#define MAX_CONTROL_BYTES (64 << 10)
#define MAX_STREAMS 1024
#define MAX_DATA_BYTES (1 << 20) /* of one frame we send */

enum { SYN_STREAM = 1, SYN_REPLY = 2, RST_STREAM = 3, PING = 6, GOAWAY = 7, HEADERS = 8 };
enum { FLAG_FIN = 1 };
enum { RST_PROTOCOL_ERROR = 1, RST_INVALID_STREAM = 2, RST_REFUSED = 3, RST_CANCEL = 5 };

struct spdy_stream {
    struct spdy *session;
    struct list link;
    uint32_t id;
    bool peer_done; /* the client's half has ended */
    bool our_done;
    struct spdy_headers headers;
    void *arg;
};

struct spdy {
    struct spdy_events events;
    void *arg;
    struct spdy_blocks blocks;
    struct list streams;
    size_t n_streams;
    uint32_t last_id; /* the highest that the client has opened */
    bool stopped;

    unsigned char head[HEAD_BYTES];
    size_t head_n;
    uint32_t left; /* of the frame's content */
    struct buf control;
};

static uint32_t get_u32(const void *at)
{
    const unsigned char *p = at;

    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void put_u32(unsigned char *p, uint32_t v)
{
    p[0] = (unsigned char)(v >> 24);
    p[1] = (unsigned char)(v >> 16);
    p[2] = (unsigned char)(v >> 8);
    p[3] = (unsigned char)v;
}

static void write_control(struct spdy *s, uint16_t type, uint8_t flags, struct str content)
{
    unsigned char head[HEAD_BYTES] = {0x80, 3, (unsigned char)(type >> 8), (unsigned char)type};

    put_u32(head + 4, (uint32_t)flags << 24 | (uint32_t)content.n);
    s->events.write(s->arg, (struct str){(char *)head, HEAD_BYTES});
    s->events.write(s->arg, content);
}

/* Control frames of two words: RST_STREAM, GOAWAY. */
static void write_pair(struct spdy *s, uint16_t type, uint32_t a, uint32_t b)
{
    unsigned char content[8];

    put_u32(content, a);
    put_u32(content + 4, b);
    write_control(s, type, 0, (struct str){(char *)content, sizeof(content)});
}

struct spdy *spdy_new(const struct spdy_events *events, void *arg)
{
    struct spdy *s = xcalloc(1, sizeof(*s));

    s->events = *events;
    s->arg = arg;
    list_init(&s->streams);
    spdy_blocks_init(&s->blocks);
    buf_init(&s->control, MAX_CONTROL_BYTES);
    return s;
}

static void stream_free(struct spdy_stream *st)
{
    list_remove(&st->link);
    st->session->n_streams--;
    spdy_headers_done(&st->headers);
    free(st);
}

struct spdy *spdy_free(struct spdy *s)
{
    if (!s)
        return NULL;
    LIST_FOR_EACH (st, &s->streams, struct spdy_stream, link) {
        stream_free(st);
    }
    spdy_blocks_done(&s->blocks);
    buf_done(&s->control);
    free(s);
    return NULL;
}

void spdy_stop(struct spdy *s)
{
    s->stopped = true;
}

static struct spdy_stream *find_stream(struct spdy *s, uint32_t id)
{
    LIST_FOR_EACH (st, &s->streams, struct spdy_stream, link) {
        if (st->id == id)
            return st;
    }
    return NULL;
}

static void peer_half_ended(struct spdy_stream *st)
{
    if (st->peer_done)
        return;
    st->peer_done = true;
    st->session->events.on_fin(st->session->arg, st);
}

static void confirm(struct spdy *s, uint32_t id)
{
    AUTO(buf_done) struct buf b = {0};
    unsigned char word[4];

    put_u32(word, id);
    buf_add(&b, word, 4);
    spdy_block_write(&s->blocks, NULL, 0, &b);
    write_control(s, SYN_REPLY, 0, buf_view(&b));
}

static int on_syn_stream(struct spdy *s, uint8_t flags, struct str c)
{
    AUTO(spdy_headers_done) struct spdy_headers headers = {0};
    struct spdy_stream *st;
    uint32_t id;

    if (c.n < 10)
        return -EPROTO;
    id = get_u32(c.p) & 0x7fffffff;
    /* The block has to be read even if the stream is refused: the context runs on. */
    if (spdy_block_read(&s->blocks, (struct str){c.p + 10, c.n - 10}, &headers) < 0)
        return -EPROTO;
    if (id % 2 == 0 || id <= s->last_id)
        return -EPROTO;
    s->last_id = id;
    if (s->n_streams >= MAX_STREAMS) {
        write_pair(s, RST_STREAM, id, RST_REFUSED);
        return 0;
    }
    st = xcalloc(1, sizeof(*st));
    st->session = s;
    st->id = id;
    st->headers = headers;
    headers = (struct spdy_headers){0};
    list_append(&s->streams, &st->link);
    s->n_streams++;
    confirm(s, id);
    s->events.on_stream(s->arg, st);
    if ((flags & FLAG_FIN) && !s->stopped && find_stream(s, id))
        peer_half_ended(st);
    return 0;
}

static int on_rst_stream(struct spdy *s, struct str c)
{
    struct spdy_stream *st;

    if (c.n < 8)
        return -EPROTO;
    st = find_stream(s, get_u32(c.p) & 0x7fffffff);
    if (st) {
        s->events.on_reset(s->arg, st);
        stream_free(st);
    }
    return 0;
}

/* Headers that follow later mean nothing here, but the context runs on. */
static int on_headers(struct spdy *s, struct str c)
{
    AUTO(spdy_headers_done) struct spdy_headers ignored = {0};

    if (c.n < 4)
        return -EPROTO;
    return spdy_block_read(&s->blocks, (struct str){c.p + 4, c.n - 4}, &ignored);
}

static int on_ping(struct spdy *s, struct str c)
{
    if (c.n != 4)
        return -EPROTO;
    if (get_u32(c.p) % 2 == 1) /* the client's own; an even one would be an echo of ours */
        write_control(s, PING, 0, c);
    return 0;
}

static int control_ended(struct spdy *s)
{
    uint16_t type = (uint16_t)(s->head[2] << 8 | s->head[3]);
    AUTO(buf_done) struct buf b = s->control;
    struct str c = buf_view(&b);

    buf_init(&s->control, MAX_CONTROL_BYTES);
    switch (type) {
    case SYN_STREAM:
        return on_syn_stream(s, s->head[4], c);
    case RST_STREAM:
        return on_rst_stream(s, c);
    case PING:
        return on_ping(s, c);
    case HEADERS:
        return on_headers(s, c);
    case GOAWAY:
        return 1;
    default: /* SETTINGS, WINDOW_UPDATE and what is not known */
        return 0;
    }
}

/* The head of a frame is there: may its content come? */
static int head_ended(struct spdy *s)
{
    s->left = get_u32(s->head + 4) & 0xffffff;
    if (!(s->head[0] & 0x80))
        return 0;
    if (s->head[0] != 0x80 || s->head[1] != 3 || s->left > MAX_CONTROL_BYTES)
        return -EPROTO;
    return 0;
}

static void take_data(struct spdy *s, struct str data)
{
    uint32_t id = get_u32(s->head);
    struct spdy_stream *st = find_stream(s, id);

    if (!st || st->peer_done) {
        if (id > s->last_id)
            write_pair(s, RST_STREAM, id, RST_INVALID_STREAM);
        return; /* of a stream that is gone: on its way when we closed it */
    }
    if (data.n > 0)
        s->events.on_data(s->arg, st, data);
    if (s->left == 0 && (s->head[4] & FLAG_FIN) && !s->stopped) {
        st = find_stream(s, id);
        if (st)
            peer_half_ended(st);
    }
}

static int take_content(struct spdy *s, struct str *data)
{
    size_t n = MIN((size_t)s->left, data->n);
    struct str piece = {data->p, n};
    int r = 0;

    data->p += n;
    data->n -= n;
    s->left -= (uint32_t)n;
    if (!(s->head[0] & 0x80)) {
        take_data(s, piece);
    } else {
        buf_addstr(&s->control, piece);
        if (s->left == 0)
            r = control_ended(s);
    }
    if (s->left == 0)
        s->head_n = 0;
    return r;
}

int spdy_feed(struct spdy *s, struct str data)
{
    int r = 0;

    while (!s->stopped && r == 0 && data.n > 0) {
        if (s->head_n < HEAD_BYTES) {
            s->head[s->head_n++] = (unsigned char)*data.p++;
            data.n--;
            if (s->head_n < HEAD_BYTES)
                continue;
            r = head_ended(s);
            if (r == 0 && s->left == 0)
                r = take_content(s, &(struct str){"", 0});
        } else {
            r = take_content(s, &data);
        }
    }
    if (r < 0)
        write_pair(s, GOAWAY, s->last_id, RST_PROTOCOL_ERROR);
    return r;
}

const char *spdy_stream_header(const struct spdy_stream *st, const char *name)
{
    return spdy_headers_get(&st->headers, name);
}

void spdy_stream_set_arg(struct spdy_stream *st, void *arg)
{
    st->arg = arg;
}

void *spdy_stream_arg(const struct spdy_stream *st)
{
    return st->arg;
}

static void write_data(struct spdy_stream *st, struct str data, bool fin)
{
    unsigned char head[HEAD_BYTES];

    put_u32(head, st->id);
    put_u32(head + 4, (fin ? (uint32_t)FLAG_FIN << 24 : 0) | (uint32_t)data.n);
    st->session->events.write(st->session->arg, (struct str){(char *)head, HEAD_BYTES});
    if (data.n > 0)
        st->session->events.write(st->session->arg, data);
}

void spdy_stream_write(struct spdy_stream *st, struct str data, bool fin)
{
    if (st->our_done)
        return;
    while (data.n > MAX_DATA_BYTES) {
        write_data(st, (struct str){data.p, MAX_DATA_BYTES}, false);
        data.p += MAX_DATA_BYTES;
        data.n -= MAX_DATA_BYTES;
    }
    if (data.n > 0 || fin)
        write_data(st, data, fin);
    st->our_done = fin;
}

void spdy_stream_reset(struct spdy_stream *st)
{
    write_pair(st->session, RST_STREAM, st->id, RST_CANCEL);
    stream_free(st);
}

bool spdy_stream_ended(const struct spdy_stream *st)
{
    return st->peer_done && st->our_done;
}

void spdy_stream_forget(struct spdy_stream *st)
{
    if (spdy_stream_ended(st))
        stream_free(st);
    else
        spdy_stream_reset(st);
}
