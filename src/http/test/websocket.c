/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of WebSocket: handshake, frames, closing, with a scripted peer. */
#include "src/http/test/peer.h"

#include <sys/socket.h>

#include "src/base/alloc.h"
#include "src/http/test/client_frame.h"
#include "src/http/websocket.h"

#define KEY "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
#define WS "GET / HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\nConnection: keep-alive, Upgrade\r\n"
#define V13 "Sec-WebSocket-Version: 13\r\n"

static const char *const protocols[] = {"v5", "v4", NULL};

struct session {
    struct rig rig;
    struct websocket *ws;
    bool any_protocol;
    struct buf log;
    int close_code;
    int closed;
};

static void note_message(void *arg, enum frame_opcode opcode, struct str data)
{
    struct session *s = arg;

    buf_printf(&s->log, "%c(", opcode == FRAME_TEXT ? 't' : 'b');
    buf_addstr(&s->log, data.n > 40 ? (struct str){data.p, 40} : data);
    buf_printf(&s->log, ")%zu;", data.n);
    if (str_eqz(data, "bye")) {
        websocket_close(TAKE(s->ws), FRAME_NORMAL, "as you wish");
        return;
    }
    websocket_send(s->ws, opcode, STR(">"), data);
}

static void note_close(void *arg, int code)
{
    struct session *s = arg;

    s->closed++;
    s->close_code = code;
    s->ws = NULL;
}

static void accept_it(void *arg, struct http_exchange *x)
{
    struct session *s = arg;
    struct websocket_options o = {.protocols = s->any_protocol ? NULL : protocols,
                                  .max_message_bytes = 100000,
                                  .events = {note_message, note_close, NULL},
                                  .arg = s};
    struct err e = {0};
    int status = 0;

    if (websocket_accept(x, &o, &s->ws, &status, &e) < 0)
        http_reply(x, status, "text/plain", NULL, str_of(e.text));
}

static void session_init(struct session *s)
{
    *s = (struct session){.any_protocol = true};
    rig_init(&s->rig, accept_it, s, NULL);
}

static void session_open(struct session *s)
{
    session_init(s);
    assert_memory_equal(rig_ask(&s->rig, WS V13 KEY "\r\n"), "HTTP/1.1 101 ", 13);
    buf_clear(&s->rig.got);
}

static void session_done(struct session *s)
{
    rig_done(&s->rig);
    buf_done(&s->log);
}

/* Send bytes, yield what the server said since. */
static struct str say(struct session *s, struct str bytes)
{
    buf_clear(&s->rig.got);
    rig_send_bytes(&s->rig, bytes);
    rig_settle(&s->rig, 0);
    return buf_view(&s->rig.got);
}

static struct str say_frame(struct session *s, int opcode, const char *data)
{
    AUTO(buf_done) struct buf b = {0};

    client_frame(&b, 0x80 | opcode, str_of(data));
    return say(s, buf_view(&b));
}

static void handshakes_are_checked(void **state)
{
    static const struct {
        const char *request;
        bool any;
        const char *answer;
        const char *holds;
    } table[] = {
        {WS V13 KEY "\r\n", true, "HTTP/1.1 101 ",
         "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"},
        {WS V13 KEY "Sec-WebSocket-Protocol: x, v4, v5\r\n\r\n", false, "HTTP/1.1 101 ",
         "Sec-WebSocket-Protocol: v4\r\n"},
        {WS V13 KEY "Sec-WebSocket-Protocol: x\r\nSec-WebSocket-Protocol: v5\r\n\r\n", false,
         "HTTP/1.1 101 ", "Sec-WebSocket-Protocol: v5\r\n"},
        {WS V13 KEY "Sec-WebSocket-Protocol: x\r\n\r\n", false, "HTTP/1.1 400 ",
         "none of the offered"},
        {WS V13 KEY "\r\n", false, "HTTP/1.1 400 ", "none of the offered"},
        {WS "Sec-WebSocket-Version: 8\r\n" KEY "\r\n", true, "HTTP/1.1 426 ", "version 13"},
        {WS KEY "\r\n", true, "HTTP/1.1 426 ", "version 13"},
        {WS V13 "\r\n", true, "HTTP/1.1 400 ", "Sec-WebSocket-Key"},
        {WS V13 "Sec-WebSocket-Key: c2hvcnQ=\r\n\r\n", true, "HTTP/1.1 400 ", "Sec-WebSocket-Key"},
        {"GET / HTTP/1.1\r\nHost: h\r\n" V13 KEY "\r\n", true, "HTTP/1.1 400 ", "not a WebSocket"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        struct session s;
        const char *answer;

        session_init(&s);
        s.any_protocol = table[i].any;
        answer = rig_ask(&s.rig, table[i].request);
        assert_memory_equal(answer, table[i].answer, strlen(table[i].answer));
        assert_non_null(strstr(answer, table[i].holds));
        session_done(&s);
    }
}

static void messages_go_both_ways(void **state)
{
    AUTO(free) char *medium = xcalloc(1, 301);
    AUTO(free) char *large = xcalloc(1, 70001);
    struct session s;
    struct str got;

    (void)state;
    memset(medium, 'm', 300);
    memset(large, 'l', 70000);
    session_open(&s);
    got = say_frame(&s, FRAME_TEXT, "hello");
    assert_memory_equal(got.p, "\x81\x06>hello", got.n);
    got = say_frame(&s, FRAME_BINARY, medium);
    assert_int_equal(got.n, 4 + 301);
    assert_memory_equal(got.p, "\x82\x7e\x01\x2d>mmm", 8);
    got = say_frame(&s, FRAME_BINARY, large);
    assert_int_equal(got.n, 10 + 70001);
    assert_memory_equal(got.p, "\x82\x7f\0\0\0\0\0\x01\x11\x71>lll", 14);
    got = say_frame(&s, FRAME_BINARY, "");
    assert_memory_equal(got.p, "\x82\x01>", got.n);
    session_done(&s);
    assert_int_equal(s.close_code, FRAME_ABNORMAL);
}

static void fragments_are_put_together_around_control_frames(void **state)
{
    AUTO(buf_done) struct buf b = {0};
    struct session s;
    struct str got;

    (void)state;
    session_open(&s);
    client_frame(&b, FRAME_TEXT, STR("one "));
    client_frame(&b, 0x80 | FRAME_PING, STR("p"));
    client_frame(&b, FRAME_CONTINUATION, STR("two "));
    client_frame(&b, 0x80 | FRAME_PONG, STR("unasked"));
    client_frame(&b, 0x80 | FRAME_CONTINUATION, STR("three"));
    got = say(&s, buf_view(&b));
    assert_string_equal(buf_str(&s.log), "t(one two three)13;");
    assert_memory_equal(got.p, "\x8a\x01p\x81\x0e>one two three", got.n);
    session_done(&s);
}

static void what_a_client_must_not_do_ends_it(void **state)
{
    static const struct {
        struct str bytes;
        int code;
    } table[] = {
        {STR("\x81\x01x"), FRAME_PROTOCOL_ERROR},         /* no mask */
        {STR("\xc1\x81\0\0\0\0x"), FRAME_PROTOCOL_ERROR}, /* reserved bit */
        {STR("\x83\x81\0\0\0\0x"), FRAME_PROTOCOL_ERROR}, /* reserved opcode */
        {STR("\x8b\x80\0\0\0\0"), FRAME_PROTOCOL_ERROR},  /* reserved control opcode */
        {STR("\x80\x81\0\0\0\0x"), FRAME_PROTOCOL_ERROR}, /* continuation of nothing */
        {STR("\x01\x81\0\0\0\0x\x81\x81\0\0\0\0y"), FRAME_PROTOCOL_ERROR}, /* two at once */
        {STR("\x09\x80\0\0\0\0"), FRAME_PROTOCOL_ERROR},                   /* a cut ping */
        {STR("\x89\xfe\0\x7e\0\0\0\0"), FRAME_PROTOCOL_ERROR},             /* a long ping */
        {STR("\x82\xff\x80\0\0\0\0\0\0\0\0\0\0\0"), FRAME_PROTOCOL_ERROR}, /* a negative length */
        {STR("\x82\xff\0\0\0\0\0\x02\0\0\0\0\0\0"), FRAME_TOO_BIG},
        {STR("\x81\x81\0\0\0\0\xff"), FRAME_BAD_TEXT},
        {STR("\x88\x81\0\0\0\0\x03"), FRAME_PROTOCOL_ERROR},     /* half a code */
        {STR("\x88\x82\0\0\0\0\x03\xed"), FRAME_PROTOCOL_ERROR}, /* 1005 */
        {STR("\x88\x82\0\0\0\0\0\0"), FRAME_PROTOCOL_ERROR},     /* 0 */
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        struct session s;
        struct str got;

        session_open(&s);
        got = say(&s, table[i].bytes);
        assert_int_equal(s.closed, 1);
        assert_int_equal(s.close_code, table[i].code);
        assert_int_equal(got.n, 4);
        assert_int_equal((unsigned char)got.p[0], 0x80 | FRAME_CLOSE);
        assert_int_equal((unsigned char)got.p[2] << 8 | (unsigned char)got.p[3], table[i].code);
        assert_true(s.rig.ended);
        session_done(&s);
    }
}

static void who_never_reads_is_not_read_for_ever(void **state)
{
    char ping[6 + 125] = "\x89\xfd";
    size_t sent = 0;
    struct session s;

    (void)state;
    session_open(&s);
    for (int idle = 0; idle < 20 && sent < (64U << 20);) {
        ssize_t n = send(s.rig.peer, ping + sent % sizeof(ping), sizeof(ping) - sent % sizeof(ping),
                         MSG_NOSIGNAL);

        sent += n > 0 ? (size_t)n : 0;
        if (n > 0 && sent % (1U << 16) > sizeof(ping))
            continue;
        (void)loop_turn(s.rig.loop, 0);
        idle = n > 0 ? 0 : idle + 1;
    }
    assert_true(sent > 1U << 20);
    assert_true(sent < 32U << 20);
    rig_settle(&s.rig, 0);
    assert_true(s.rig.got.n > 1U << 20);
    assert_int_equal(s.closed, 0);
    session_done(&s);
}

static void the_peers_goodbye_is_echoed(void **state)
{
    static const struct {
        struct str bytes;
        int code;
        struct str answer;
    } table[] = {
        {STR("\x88\x80\0\0\0\0"), FRAME_NO_CODE, STR("\x88\x02\x03\xe8")},
        {STR("\x88\x82\0\0\0\0\x03\xe9"), 1001, STR("\x88\x02\x03\xe9")},
        {STR("\x88\x85\0\0\0\0\x0f\xa0why"), 4000, STR("\x88\x02\x0f\xa0")},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        struct session s;
        struct str got;

        session_open(&s);
        got = say(&s, table[i].bytes);
        assert_int_equal(s.close_code, table[i].code);
        assert_true(str_eq(got, table[i].answer));
        assert_true(s.rig.ended);
        session_done(&s);
        assert_int_equal(s.closed, 1);
    }
}

static void our_goodbye_waits_for_the_peers(void **state)
{
    struct session s;
    struct str got;

    (void)state;
    session_open(&s);
    got = say_frame(&s, FRAME_TEXT, "bye");
    assert_int_equal(got.n, 2 + 2 + strlen("as you wish"));
    assert_memory_equal(got.p,
                        "\x88\x0d\x03\xe8"
                        "as you wish",
                        got.n);
    assert_false(s.rig.ended);
    (void)say_frame(&s, FRAME_TEXT, "too late");
    assert_string_equal(buf_str(&s.log), "t(bye)3;");
    assert_false(s.rig.ended);
    got = say(&s, STR("\x88\x82\0\0\0\0\x03\xe8"));
    assert_int_equal(got.n, 0);
    assert_true(s.rig.ended);
    session_done(&s);
    assert_int_equal(s.closed, 0);
}

static void a_peer_that_vanishes_is_reported(void **state)
{
    struct session s;

    (void)state;
    session_open(&s);
    rig_hang_up(&s.rig);
    rig_settle(&s.rig, 10);
    assert_int_equal(s.closed, 1);
    assert_int_equal(s.close_code, FRAME_ABNORMAL);
    session_done(&s);
}

static void a_paused_session_reads_nothing(void **state)
{
    struct session s;

    (void)state;
    session_open(&s);
    websocket_pause(s.ws, true);
    assert_int_equal(say_frame(&s, FRAME_TEXT, "x").n, 0);
    websocket_pause(s.ws, false);
    rig_settle(&s.rig, 0);
    assert_string_equal(buf_str(&s.log), "t(x)1;");
    assert_int_equal(websocket_backlog(s.ws), 0);
    session_done(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(handshakes_are_checked),
        cmocka_unit_test(messages_go_both_ways),
        cmocka_unit_test(fragments_are_put_together_around_control_frames),
        cmocka_unit_test(what_a_client_must_not_do_ends_it),
        cmocka_unit_test(who_never_reads_is_not_read_for_ever),
        cmocka_unit_test(the_peers_goodbye_is_echoed),
        cmocka_unit_test(our_goodbye_waits_for_the_peers),
        cmocka_unit_test(a_peer_that_vanishes_is_reported),
        cmocka_unit_test(a_paused_session_reads_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
