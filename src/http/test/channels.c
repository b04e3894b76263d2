/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of exec's channels and of port-forward, over WebSocket and SPDY, with a scripted peer.
 */
#include "src/http/test/peer.h"

#include "src/base/alloc.h"
#include "src/http/channels.h"
#include "src/http/forward_internal.h"
#include "src/http/frame.h"
#include "src/http/spdy_block.h"
#include "src/http/test/client_frame.h"

#define WS                                                                                         \
    "GET / HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"                   \
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
#define SPDY                                                                                       \
    "POST / HTTP/1.1\r\nHost: h\r\nUpgrade: SPDY/3.1\r\nConnection: Upgrade\r\n"                   \
    "Content-Length: 0\r\n"

/* What the owner of a session sees, as text. */
struct owner {
    struct rig rig;
    struct channels_options options;
    struct forward_options forward_options;
    struct channels *ch;
    struct forward *forward;
    struct forward_conn *conn;
    struct buf log;
    struct spdy_blocks blocks; /* the client's contexts */
};

static void ready(void *arg)
{
    buf_adds(&((struct owner *)arg)->log, "ready;");
}

static void input(void *arg, struct str data)
{
    struct owner *o = arg;

    buf_printf(&o->log, "in(" STR_FMT ");", STR_ARG(data));
}

static void input_end(void *arg)
{
    buf_adds(&((struct owner *)arg)->log, "end;");
}

static void resized(void *arg, unsigned int width, unsigned int height)
{
    buf_printf(&((struct owner *)arg)->log, "size %ux%u;", width, height);
}

static void drain(void *arg)
{
    (void)arg;
}

static void closed(void *arg)
{
    struct owner *o = arg;

    buf_adds(&o->log, "closed;");
    o->ch = NULL;
    o->forward = NULL;
}

static void accept_exec(void *arg, struct http_exchange *x)
{
    struct owner *o = arg;
    struct err e = {0};
    int status = 0;

    o->options.events = (struct channels_events){ready, input, input_end, resized, drain, closed};
    o->options.arg = o;
    if (channels_accept(x, &o->options, &o->ch, &status, &e) < 0)
        http_reply(x, status, "text/plain", NULL, str_of(e.text));
}

static void connected(void *arg, struct forward_conn *c, uint16_t port)
{
    struct owner *o = arg;

    buf_printf(&o->log, "connect %u;", port);
    o->conn = c;
    forward_conn_set_arg(c, o);
}

static void conn_data(void *arg, struct forward_conn *c, struct str data)
{
    assert_ptr_equal(forward_conn_arg(c), arg);
    input(arg, data);
}

static void conn_end(void *arg, struct forward_conn *c)
{
    (void)c;
    input_end(arg);
}

static void conn_gone(void *arg, struct forward_conn *c)
{
    (void)c;
    buf_adds(&((struct owner *)arg)->log, "gone;");
}

static void accept_forward(void *arg, struct http_exchange *x)
{
    struct owner *o = arg;
    struct err e = {0};
    int status = 0;

    o->forward_options.events =
        (struct forward_events){connected, conn_data, conn_end, conn_gone, drain, closed};
    o->forward_options.arg = o;
    if (forward_accept(x, &o->forward_options, &o->forward, &status, &e) < 0)
        http_reply(x, status, "text/plain", NULL, str_of(e.text));
}

static void owner_init(struct owner *o, http_handler_fn handler)
{
    *o = (struct owner){.options = {.in = true, .out = true, .err = true}};
    rig_init(&o->rig, handler, o, NULL);
    spdy_blocks_init(&o->blocks);
}

static void owner_done(struct owner *o)
{
    rig_done(&o->rig);
    buf_done(&o->log);
    spdy_blocks_done(&o->blocks);
}

/* Send bytes, yield what the server said since. */
static struct str say(struct owner *o, struct str bytes)
{
    buf_clear(&o->rig.got);
    rig_send_bytes(&o->rig, bytes);
    rig_settle(&o->rig, 0);
    return buf_view(&o->rig.got);
}

static struct str say_frame(struct owner *o, struct str data)
{
    AUTO(buf_done) struct buf b = {0};

    client_frame(&b, 0x80 | FRAME_BINARY, data);
    return say(o, buf_view(&b));
}

/* SPDY as a client writes it. */
static void add_u32(struct buf *b, size_t v)
{
    for (int shift = 24; shift >= 0; shift -= 8)
        buf_addc(b, (char)(v >> shift));
}

static void add_stream(struct owner *o, struct buf *b, uint32_t id, const struct spdy_header *h,
                       size_t n)
{
    AUTO(buf_done) struct buf block = {0};

    spdy_block_write(&o->blocks, h, n, &block);
    buf_add(b, "\x80\x03\x00\x01", 4);
    add_u32(b, block.n + 10);
    add_u32(b, id);
    add_u32(b, 0);
    buf_add(b, "\0\0", 2);
    buf_addstr(b, buf_view(&block));
}

static void add_exec_stream(struct owner *o, struct buf *b, uint32_t id, const char *type)
{
    struct spdy_header h = {"streamtype", type};

    add_stream(o, b, id, &h, 1);
}

static void add_data(struct buf *b, uint32_t id, const char *data, bool fin)
{
    add_u32(b, id);
    add_u32(b, (fin ? 1u << 24 : 0) | strlen(data));
    buf_adds(b, data);
}

/* Take the next frame off *s: for data frames "id:data", with "!" for FIN; for control frames their
 * type. */
static char *next_frame(struct str *s)
{
    const unsigned char *p = (const unsigned char *)s->p;
    AUTO(buf_done) struct buf b = {0};
    size_t n;

    if (s->n < 8)
        return xstrdup("");
    n = (size_t)p[5] << 16 | (size_t)p[6] << 8 | p[7];
    assert_true(8 + n <= s->n);
    if (p[0] & 0x80)
        buf_printf(&b, "control %d", p[3]);
    else
        buf_printf(&b, "%d:%.*s%s", p[3], (int)n, s->p + 8, p[4] & 1 ? "!" : "");
    s->p += 8 + n;
    s->n -= 8 + n;
    return buf_take(&b);
}

static void expect_frames(struct str s, const char *const *frames)
{
    for (; *frames; frames++) {
        AUTO(free) char *f = next_frame(&s);

        assert_string_equal(f, *frames);
    }
    assert_int_equal(s.n, 0);
}

static void requests_that_are_no_upgrade_are_refused(void **state)
{
    static const struct {
        const char *request;
        const char *status;
    } table[] = {
        {"POST / HTTP/1.1\r\nHost: h\r\n\r\n", "HTTP/1.1 400 "},
        {"POST / HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: SPDY/4\r\n\r\n",
         "HTTP/1.1 400 "},
        {SPDY "X-Stream-Protocol-Version: v9\r\n\r\n", "HTTP/1.1 403 "},
        {SPDY "\r\n", "HTTP/1.1 403 "},
        {WS "\r\n", "HTTP/1.1 400 "},
        {WS "Sec-WebSocket-Protocol: v9\r\n\r\n", "HTTP/1.1 400 "},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        for (int forward = 0; forward < 2; forward++) {
            struct owner o;

            owner_init(&o, forward ? accept_forward : accept_exec);
            assert_memory_equal(rig_ask(&o.rig, table[i].request), table[i].status, 13);
            assert_string_equal(buf_str(&o.log), "");
            owner_done(&o);
        }
    }
}

static void open_websocket(struct owner *o, const char *protocol)
{
    AUTO(free) char *request = xasprintf(WS "Sec-WebSocket-Protocol: %s\r\n\r\n", protocol);

    owner_init(o, accept_exec);
    assert_memory_equal(rig_ask(&o->rig, request), "HTTP/1.1 101 ", 13);
    assert_string_equal(buf_str(&o->log), "ready;");
}

static void exec_runs_over_websocket(void **state)
{
    struct owner o;
    struct str got;

    (void)state;
    open_websocket(&o, "v5.channel.k8s.io");
    (void)say_frame(&o, STR("\0hello"));
    (void)say_frame(&o, STR("\4{\"Width\":90,\"Height\":30}")); /* no terminal: ignored */
    (void)say_frame(&o, STR("\1not an input"));
    (void)say_frame(&o, STR("\x63what"));
    (void)say_frame(&o, STR(""));
    (void)say_frame(&o, STR("\xff\1"));
    (void)say_frame(&o, STR("\xff\0"));
    (void)say_frame(&o, STR("\xff\0"));
    (void)say_frame(&o, STR("\0too late"));
    assert_string_equal(buf_str(&o.log), "ready;in(hello);end;");
    channels_write(o.ch, CHANNEL_STDOUT, STR("out"));
    channels_write(o.ch, CHANNEL_STDERR, STR("err"));
    channels_write(o.ch, CHANNEL_STDERR, STR(""));
    got = say(&o, STR(""));
    assert_true(str_eq(got, STR("\x82\x04\1out\x82\x04\2err")));
    channels_exit(o.ch, 0);
    got = say(&o, STR(""));
    assert_int_equal(got.p[2], 3);
    assert_memory_equal(got.p + 3, "{\"metadata\":{},\"status\":\"Success\"}", 34);
    assert_memory_equal(got.p + 37, "\x88\x02\x03\xe8", 4);
    owner_done(&o);
}

static void v4_has_no_end_of_input(void **state)
{
    struct owner o;

    (void)state;
    open_websocket(&o, "v4.channel.k8s.io");
    (void)say_frame(&o, STR("\xff\0"));
    (void)say_frame(&o, STR("\0hello"));
    assert_string_equal(buf_str(&o.log), "ready;in(hello);");
    owner_done(&o);
    assert_null(o.ch);
}

static void input_sent_with_the_handshake_comes_after_ready(void **state)
{
    AUTO(buf_done) struct buf b = {0};
    struct owner o;

    (void)state;
    owner_init(&o, accept_exec);
    buf_adds(&b, WS "Sec-WebSocket-Protocol: v5.channel.k8s.io\r\n\r\n");
    client_frame(&b, 0x80 | FRAME_BINARY, STR("\0early"));
    (void)say(&o, buf_view(&b));
    assert_string_equal(buf_str(&o.log), "ready;in(early);");
    owner_done(&o);
}

static void exits_are_told_as_kubectl_expects(void **state)
{
    static const struct {
        int code; /* -1: a failure */
        const char *text;
        const char *json;
    } table[] = {
        {3, NULL,
         "{\"metadata\":{},\"status\":\"Failure\",\"message\":\"command terminated with non-zero "
         "exit code: exit status 3\",\"reason\":\"NonZeroExitCode\",\"details\":{\"causes\":[{"
         "\"reason\":\"ExitCode\",\"message\":\"3\"}]}}"},
        {-1, "no \"such\"\n\\thing",
         "{\"metadata\":{},\"status\":\"Failure\",\"message\":\"no \\\"such\\\"\\u000a\\\\thing\","
         "\"reason\":\"InternalError\",\"details\":{\"causes\":[{\"message\":\"no "
         "\\\"such\\\"\\u000a\\\\thing\"}]},\"code\":500}"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        struct owner o;
        struct str got;

        open_websocket(&o, "v5.channel.k8s.io");
        if (table[i].code >= 0)
            channels_exit(o.ch, table[i].code);
        else
            channels_fail(o.ch, table[i].text);
        got = say(&o, STR(""));
        assert_memory_equal(got.p + 5, table[i].json, strlen(table[i].json));
        owner_done(&o);
    }
}

static void terminal_sizes_are_read_wherever_they_are_cut(void **state)
{
    static const char sizes[] = "{\"Width\":90,\"Height\":30}\n{\"height\": 1,\"width\": 2}"
                                "{\"Width\":0,\"Height\":5}{\"Width\":99999,\"Height\":5}{}";
    struct owner o;

    (void)state;
    for (size_t cut = 1; cut < sizeof(sizes) - 1; cut++) {
        AUTO(free) char *first = xasprintf("\4%.*s", (int)cut, sizes);
        AUTO(free) char *second = xasprintf("\4%s", sizes + cut);

        owner_init(&o, accept_exec);
        o.options.tty = true;
        (void)rig_ask(&o.rig, WS "Sec-WebSocket-Protocol: v5.channel.k8s.io\r\n\r\n");
        (void)say_frame(&o, str_of(first));
        (void)say_frame(&o, str_of(second));
        assert_string_equal(buf_str(&o.log), "ready;size 90x30;size 2x1;");
        owner_done(&o);
    }
}

static void exec_runs_over_spdy(void **state)
{
    AUTO(buf_done) struct buf b = {0};
    struct owner o;

    (void)state;
    owner_init(&o, accept_exec);
    assert_non_null(strstr(rig_ask(&o.rig, SPDY "X-Stream-Protocol-Version: v4.channel.k8s.io\r\n"
                                                "X-Stream-Protocol-Version: v3.channel.k8s.io\r\n"
                                                "\r\n"),
                           "X-Stream-Protocol-Version: v4.channel.k8s.io\r\n"));
    add_exec_stream(&o, &b, 1, "error");
    add_exec_stream(&o, &b, 3, "stdin");
    add_exec_stream(&o, &b, 5, "stdout");
    expect_frames(say(&o, buf_view(&b)),
                  (const char *const[]){"control 2", "control 2", "control 2", NULL});
    assert_string_equal(buf_str(&o.log), "");
    buf_clear(&b);
    add_exec_stream(&o, &b, 7, "stderr");
    add_exec_stream(&o, &b, 9, "resize"); /* not asked for: confirmed, then reset */
    add_data(&b, 3, "hello", false);
    add_data(&b, 3, " world", true);
    expect_frames(say(&o, buf_view(&b)),
                  (const char *const[]){"control 2", "control 2", "control 3", NULL});
    assert_string_equal(buf_str(&o.log), "ready;in(hello);in( world);end;");
    channels_write(o.ch, CHANNEL_STDOUT, STR("out"));
    channels_write(o.ch, CHANNEL_STDERR, STR("err"));
    channels_exit(o.ch, 0);
    expect_frames(say(&o, STR("")),
                  (const char *const[]){"5:out", "7:err", "5:!", "7:!",
                                        "1:{\"metadata\":{},\"status\":\"Success\"}!", NULL});
    assert_true(o.rig.ended);
    owner_done(&o);
}

static void a_broken_spdy_session_is_closed(void **state)
{
    static const struct {
        struct str bytes;
        const char *log;
    } table[] = {
        {STR("\x80\x02\0\1\0\0\0\0"), "closed;"},
        {STR("\x80\x03\0\1\0\0\0\x0eXXXXXXXXXXnope"), "closed;"},
        {STR("\x80\x03\0\7\0\0\0\x08\0\0\0\0\0\0\0\0"), "closed;"}, /* GOAWAY */
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        struct owner o;

        owner_init(&o, accept_exec);
        (void)rig_ask(&o.rig, SPDY "X-Stream-Protocol-Version: v4.channel.k8s.io\r\n\r\n");
        (void)say(&o, table[i].bytes);
        assert_string_equal(buf_str(&o.log), table[i].log);
        assert_true(o.rig.ended);
        owner_done(&o);
    }
}

static void pings_are_echoed(void **state)
{
    struct owner o;
    struct str got;

    (void)state;
    owner_init(&o, accept_exec);
    (void)rig_ask(&o.rig, SPDY "X-Stream-Protocol-Version: v4.channel.k8s.io\r\n\r\n");
    got = say(&o, STR("\x80\x03\0\6\0\0\0\4\0\0\0\1"));
    assert_true(str_eq(got, STR("\x80\x03\0\6\0\0\0\4\0\0\0\1")));
    got = say(&o, STR("\x80\x03\0\6\0\0\0\4\0\0\0\2"));
    assert_int_equal(got.n, 0);
    owner_done(&o);
}

static void add_forward_streams(struct owner *o, struct buf *b, uint32_t id, const char *port,
                                const char *request)
{
    struct spdy_header h[] = {{"streamtype", "error"}, {"port", port}, {"requestid", request}};

    add_stream(o, b, id, h, 3);
    add_data(b, id, "", true);
    h[0].value = "data";
    add_stream(o, b, id + 2, h, 3);
}

static void open_forward(struct owner *o)
{
    owner_init(o, accept_forward);
    assert_non_null(
        strstr(rig_ask(&o->rig, SPDY "X-Stream-Protocol-Version: portforward.k8s.io\r\n\r\n"),
               "X-Stream-Protocol-Version: portforward.k8s.io\r\n"));
}

static void connections_are_forwarded_over_spdy(void **state)
{
    AUTO(buf_done) struct buf b = {0};
    struct owner o;

    (void)state;
    open_forward(&o);
    add_forward_streams(&o, &b, 1, "80", "0");
    add_data(&b, 3, "request", false);
    add_data(&b, 3, "", true);
    (void)say(&o, buf_view(&b));
    assert_string_equal(buf_str(&o.log), "connect 80;in(request);end;");
    forward_conn_write(o.conn, STR("answer"));
    forward_conn_end(o.conn);
    forward_conn_close(o.conn, NULL);
    expect_frames(say(&o, STR("")), (const char *const[]){"3:answer", "3:!", "1:!", NULL});

    buf_clear(&b);
    buf_clear(&o.log);
    add_forward_streams(&o, &b, 5, "81", "1");
    expect_frames(say(&o, buf_view(&b)), (const char *const[]){"control 2", "control 2", NULL});
    forward_conn_close(o.conn, "refused");
    expect_frames(say(&o, STR("")), (const char *const[]){"5:refused!", "7:!", NULL});

    buf_clear(&b);
    buf_clear(&o.log);
    add_forward_streams(&o, &b, 9, "82", "2");
    buf_add(&b, "\x80\x03\0\3\0\0\0\x08\0\0\0\x0b\0\0\0\5", 16); /* RST of the data */
    (void)say(&o, buf_view(&b));
    assert_string_equal(buf_str(&o.log), "connect 82;gone;");

    buf_clear(&b);
    buf_clear(&o.log);
    add_forward_streams(&o, &b, 13, "83", "3");
    (void)say(&o, buf_view(&b));
    rig_hang_up(&o.rig);
    rig_settle(&o.rig, 10);
    assert_string_equal(buf_str(&o.log), "connect 83;gone;closed;");
    owner_done(&o);
}

static void an_error_stream_given_up_leaves_nothing_behind(void **state)
{
    static const struct spdy_header h[] = {
        {"streamtype", "error"}, {"port", "80"}, {"requestid", "0"}};
    struct owner o;

    (void)state;
    open_forward(&o);
    for (uint32_t id = 1; id < 9; id += 2) {
        AUTO(buf_done) struct buf b = {0};

        add_stream(&o, &b, id, h, 3);
        buf_add(&b, "\x80\x03\0\3\0\0\0\x08", 8); /* RST */
        add_u32(&b, id);
        add_u32(&b, 5);
        (void)say(&o, buf_view(&b));
        assert_true(list_empty(&o.forward->conns));
    }
    assert_string_equal(buf_str(&o.log), "");
    owner_done(&o);
}

static void nonsense_streams_are_reset(void **state)
{
    static const struct spdy_header table[][3] = {
        {{"streamtype", "data"}, {"port", "0"}, {"requestid", "1"}},
        {{"streamtype", "data"}, {"port", "70000"}, {"requestid", "1"}},
        {{"streamtype", "data"}, {"port", "x"}, {"requestid", "1"}},
        {{"streamtype", "what"}, {"port", "80"}, {"requestid", "1"}},
        {{"streamtype", "data"}, {"port", "80"}, {"other", "1"}},
    };
    struct owner o;

    (void)state;
    open_forward(&o);
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        AUTO(buf_done) struct buf b = {0};

        add_stream(&o, &b, (uint32_t)(2 * i + 1), table[i], 3);
        expect_frames(say(&o, buf_view(&b)), (const char *const[]){"control 2", "control 3", NULL});
    }
    assert_string_equal(buf_str(&o.log), "");
    owner_done(&o);
}

static void spdy_is_tunnelled_in_websocket_messages(void **state)
{
    AUTO(buf_done) struct buf b = {0};
    struct owner o;
    struct str got;

    (void)state;
    owner_init(&o, accept_forward);
    (void)rig_ask(&o.rig, WS "Sec-WebSocket-Protocol: SPDY/3.1+portforward.k8s.io\r\n\r\n");
    add_forward_streams(&o, &b, 1, "80", "0");
    add_data(&b, 3, "hello", false);
    /* Message borders mean nothing. */
    (void)say_frame(&o, (struct str){b.p, 11});
    (void)say_frame(&o, (struct str){b.p + 11, b.n - 11});
    assert_string_equal(buf_str(&o.log), "connect 80;in(hello);");
    forward_conn_write(o.conn, STR("x"));
    got = say(&o, STR(""));
    assert_true(str_eq(got, STR("\x82\x08\0\0\0\3\0\0\0\1\x82\1x")));
    owner_done(&o);
}

static void ports_of_the_query_are_forwarded_by_channels(void **state)
{
    static const uint16_t ports[] = {80, 0x1234};
    struct owner o;
    struct str got;
    const char *announced;

    (void)state;
    owner_init(&o, accept_forward);
    o.forward_options.ports = ports;
    o.forward_options.n_ports = 2;
    announced = rig_ask(&o.rig, WS "Sec-WebSocket-Protocol: v4.channel.k8s.io\r\n\r\n");
    announced = strstr(announced, "\r\n\r\n") + 4;
    assert_memory_equal(announced, "\x82\3\0\x50\0\x82\3\1\x50\0\x82\3\2\x34\x12\x82\3\3\x34\x12",
                        20);
    assert_string_equal(buf_str(&o.log), "connect 80;connect 4660;");
    (void)say_frame(&o, STR("\2hello"));
    assert_string_equal(buf_str(&o.log), "connect 80;connect 4660;in(hello);");
    forward_conn_write(o.conn, STR("x"));
    forward_conn_close(o.conn, "broken");
    got = say(&o, STR(""));
    assert_true(str_eq(got, STR("\x82\2\2x\x82\7\3broken")));
    owner_done(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_that_are_no_upgrade_are_refused),
        cmocka_unit_test(exec_runs_over_websocket),
        cmocka_unit_test(v4_has_no_end_of_input),
        cmocka_unit_test(input_sent_with_the_handshake_comes_after_ready),
        cmocka_unit_test(exits_are_told_as_kubectl_expects),
        cmocka_unit_test(terminal_sizes_are_read_wherever_they_are_cut),
        cmocka_unit_test(exec_runs_over_spdy),
        cmocka_unit_test(a_broken_spdy_session_is_closed),
        cmocka_unit_test(pings_are_echoed),
        cmocka_unit_test(connections_are_forwarded_over_spdy),
        cmocka_unit_test(an_error_stream_given_up_leaves_nothing_behind),
        cmocka_unit_test(nonsense_streams_are_reset),
        cmocka_unit_test(spdy_is_tunnelled_in_websocket_messages),
        cmocka_unit_test(ports_of_the_query_are_forwarded_by_channels),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
