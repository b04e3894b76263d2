/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of the request parser: heads, framing, chunks, and attempts to smuggle requests. */
#include "src/base/test/unit.h"

#include "src/base/alloc.h"
#include "src/http/chunk.h"
#include "src/http/head.h"

#define LINE "POST / HTTP/1.1\r\n"
#define HOST "Host: h\r\n"

static void request_lines_are_exact(void **state)
{
    static const struct {
        const char *line;
        int status;
        const char *path;
        const char *query;
    } table[] = {
        {"GET / HTTP/1.1", 0, "/", ""},
        {"GET /a/b?c=d?e HTTP/1.1", 0, "/a/b", "c=d?e"},
        {"M-SEARCH /%20 HTTP/1.1", 0, "/%20", ""},
        {"GET http://h/x?y HTTP/1.1", 0, "/x", "y"},
        {"GET HTTPS://user@h:1 HTTP/1.1", 0, "/", ""},
        {"GET http://h?q HTTP/1.1", 0, "/", "q"},
        {"GET http:// HTTP/1.1", 0, "/", ""},
        {"GET / HTTP/1.0", 0, "/", ""},
        {"", 400, NULL, NULL},
        {"GET", 400, NULL, NULL},
        {"GET /", 400, NULL, NULL},
        {"GET  / HTTP/1.1", 400, NULL, NULL},
        {"GET /  HTTP/1.1", 400, NULL, NULL},
        {"GET / HTTP/1.1 ", 505, NULL, NULL},
        {" GET / HTTP/1.1", 400, NULL, NULL},
        {"GET\t/ HTTP/1.1", 400, NULL, NULL},
        {"GET / http/1.1", 400, NULL, NULL},
        {"GET / HTTP/1.2", 505, NULL, NULL},
        {"GET / HTTP/2", 505, NULL, NULL},
        {"GET / HTTP/1.1x", 505, NULL, NULL},
        {"G(T / HTTP/1.1", 400, NULL, NULL},
        {"GET x HTTP/1.1", 400, NULL, NULL},
        {"OPTIONS * HTTP/1.1", 400, NULL, NULL},
        {"CONNECT h:1 HTTP/1.1", 400, NULL, NULL},
        {"GET /\x01 HTTP/1.1", 400, NULL, NULL},
        {"GET /\xc3\xa9 HTTP/1.1", 400, NULL, NULL},
        {"GET /#x HTTP/1.1", 400, NULL, NULL},
        {"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA / HTTP/1.1", 400, NULL, NULL},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        AUTO(free) char *text = xasprintf("%s\r\n" HOST "\r\n", table[i].line);
        AUTO(http_head_done) struct http_head h = {0};
        const char *why = NULL;

        assert_int_equal(http_head_parse(str_of(text), &h, &why), table[i].status);
        if (table[i].status == 0) {
            assert_string_equal(h.path, table[i].path);
            assert_string_equal(h.query, table[i].query);
        } else {
            assert_non_null(why);
        }
    }
}

/* One framing, or a refusal: nothing that another server could read differently. */
static void framing_is_unambiguous(void **state)
{
    static const struct {
        const char *fields;
        int status;
        bool chunked;
        int64_t length; /* -1: none */
    } table[] = {
        {"", 0, false, -1},
        {"Content-Length: 0\r\n", 0, false, 0},
        {"content-length:   42  \r\n", 0, false, 42},
        {"Transfer-Encoding: chunked\r\n", 0, true, -1},
        {"Transfer-Encoding:\tCHUNKED\t\r\n", 0, true, -1},
        /* CL and TE, in both orders. */
        {"Content-Length: 6\r\nTransfer-Encoding: chunked\r\n", 400, false, -1},
        {"Transfer-Encoding: chunked\r\nContent-Length: 6\r\n", 400, false, -1},
        /* Two lengths, equal or not, in one line or two. */
        {"Content-Length: 6\r\nContent-Length: 6\r\n", 400, false, -1},
        {"Content-Length: 6\r\nContent-Length: 7\r\n", 400, false, -1},
        {"Content-Length: 6, 6\r\n", 400, false, -1},
        /* Lengths that are none. */
        {"Content-Length:\r\n", 400, false, -1},
        {"Content-Length: +6\r\n", 400, false, -1},
        {"Content-Length: -6\r\n", 400, false, -1},
        {"Content-Length: 0x6\r\n", 400, false, -1},
        {"Content-Length: 6 6\r\n", 400, false, -1},
        {"Content-Length: 6.0\r\n", 400, false, -1},
        {"Content-Length: 18446744073709551616\r\n", 413, false, -1},
        /* Codings that somebody might not see. */
        {"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", 400, false, -1},
        {"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", 400, false, -1},
        {"Transfer-Encoding: xchunked\r\n", 501, false, -1},
        {"Transfer-Encoding: chunked, identity\r\n", 501, false, -1},
        {"Transfer-Encoding: identity\r\n", 501, false, -1},
        {"Transfer-Encoding: \"chunked\"\r\n", 501, false, -1},
        {"Transfer-Encoding:\r\n", 501, false, -1},
        {"Transfer-Encoding : chunked\r\n", 400, false, -1},
        {" Transfer-Encoding: chunked\r\n", 400, false, -1},
        {"X: y\r\n Transfer-Encoding: chunked\r\n", 400, false, -1},
        {"X: y\r\n\tz\r\n", 400, false, -1},
        {"Transfer-Encoding: chunked\x0b\r\n", 400, false, -1},
        {"Transfer\x00-Encoding: chunked\r\n", 400, false, -1},
        /* Line ends that somebody might see. */
        {"X: y\nContent-Length: 6\r\n", 400, false, -1},
        {"X: y\rContent-Length: 6\r\n", 400, false, -1},
        {"X: y\r\r\n", 400, false, -1},
        {"X\r\n", 400, false, -1},
        {": y\r\n", 400, false, -1},
        {"X Y: z\r\n", 400, false, -1},
        {"X: \x7f\r\n", 400, false, -1},
        {"X: a\xff\r\n", 0, false, -1},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        AUTO(free) char *text = xasprintf(LINE HOST "%s\r\n", table[i].fields);
        AUTO(http_head_done) struct http_head h = {0};
        const char *why = NULL;
        int status = http_head_parse(str_of(text), &h, &why);

        if (status != table[i].status)
            print_error("fields: %s", table[i].fields);
        assert_int_equal(status, table[i].status);
        if (status)
            continue;
        assert_int_equal(h.chunked, table[i].chunked);
        assert_int_equal(h.has_length ? (int64_t)h.length : -1, table[i].length);
    }
}

static void there_is_one_host(void **state)
{
    static const struct {
        const char *head;
        int status;
    } table[] = {
        {"GET / HTTP/1.1\r\n\r\n", 400},
        {"GET / HTTP/1.0\r\n\r\n", 0},
        {"GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nHost: a, b\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nHost: a b\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nHost: u@a\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nHost:\r\n\r\n", 0},
        {"GET / HTTP/1.1\r\nHost: [::1]:6443\r\n\r\n", 0},
        {"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nHost: a\r\n\r\nrest", 400},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        AUTO(http_head_done) struct http_head h = {0};
        const char *why = NULL;

        assert_int_equal(http_head_parse(str_of(table[i].head), &h, &why), table[i].status);
    }
}

static void a_nul_byte_is_refused(void **state)
{
    static const char text[] = LINE HOST "X: a\0b\r\n\r\n";
    struct http_head h = {0};
    const char *why = NULL;

    (void)state;
    assert_int_equal(http_head_parse((struct str){text, sizeof(text) - 1}, &h, &why), 400);
    assert_string_equal(why, "the head holds a NUL byte");
}

static void headers_are_found_in_any_case(void **state)
{
    AUTO(http_head_done) struct http_head h = {0};
    const char *why = NULL;

    (void)state;
    assert_int_equal(
        http_head_parse(STR(LINE HOST "X-A: 1\r\nx-a: 2 , three\r\nEmpty:\r\n\r\n"), &h, &why), 0);
    assert_string_equal(http_head_get(&h, "x-A", 0), "1");
    assert_string_equal(http_head_get(&h, "X-a", 1), "2 , three");
    assert_null(http_head_get(&h, "x-a", 2));
    assert_string_equal(http_head_get(&h, "empty", 0), "");
    assert_true(http_head_lists(&h, "x-a", "THREE"));
    assert_true(http_head_lists(&h, "x-a", "1"));
    assert_false(http_head_lists(&h, "x-a", "two"));
    assert_false(http_head_lists(&h, "none", "1"));
}

static void too_many_headers_get_431(void **state)
{
    AUTO(buf_done) struct buf b = {0};
    struct http_head h = {0};
    const char *why = NULL;

    (void)state;
    buf_adds(&b, LINE HOST);
    for (int i = 0; i < HTTP_MAX_HEADERS; i++)
        buf_adds(&b, "X: y\r\n");
    buf_adds(&b, "\r\n");
    assert_int_equal(http_head_parse(buf_view(&b), &h, &why), 431);
}

static void the_end_of_a_head_is_found_wherever_the_bytes_are_cut(void **state)
{
    static const struct str text = {LINE HOST "\r\nbody", sizeof(LINE HOST "\r\nbody") - 1};
    size_t end = text.n - 4;

    (void)state;
    for (size_t cut = 0; cut < end; cut++) {
        assert_int_equal(http_head_end((struct str){text.p, cut}, 0), 0);
        assert_int_equal(http_head_end(text, cut), end);
    }
}

static void chunks_decode_or_are_refused(void **state)
{
    static const struct {
        const char *bytes;
        int result;
        const char *body;
        const char *rest;
    } table[] = {
        {"0\r\n\r\n", 1, "", ""},
        {"0\r\n\r\nGET", 1, "", "GET"},
        {"3\r\nabc\r\n00\r\n\r\n", 1, "abc", ""},
        {"a\r\n0123456789\r\nA\r\n0123456789\r\n0\r\n\r\n", 1, "01234567890123456789", ""},
        {"3;name=value;x\r\nabc\r\n0;y\r\nTrailer: t\r\nOther: u\r\n\r\n", 1, "abc", ""},
        {"3\r\nab", 0, "ab", ""},
        {"0\r\n\r", 0, "", ""},
        {"3\nabc\r\n0\r\n\r\n", -EBADMSG, NULL, NULL},
        {"3 \r\nabc\r\n0\r\n\r\n", -EBADMSG, NULL, NULL},
        {" 3\r\nabc\r\n0\r\n\r\n", -EBADMSG, NULL, NULL},
        {"0x3\r\nabc\r\n0\r\n\r\n", -EBADMSG, NULL, NULL},
        {"+3\r\nabc\r\n", -EBADMSG, NULL, NULL},
        {"-1\r\n", -EBADMSG, NULL, NULL},
        {"\r\n", -EBADMSG, NULL, NULL},
        {";x\r\n", -EBADMSG, NULL, NULL},
        {"g\r\n", -EBADMSG, NULL, NULL},
        {"3\r\nabcd\r\n0\r\n\r\n", -EBADMSG, NULL, NULL},
        {"3\r\nabc\n0\r\n\r\n", -EBADMSG, NULL, NULL},
        {"3;x\nabc\r\n", -EBADMSG, NULL, NULL},
        {"0\r\nX: y\n\r\n", -EBADMSG, NULL, NULL},
        {"0\r\n\rX", -EBADMSG, NULL, NULL},
        {"000000003\r\nabc\r\n", -EBADMSG, NULL, NULL},
        {"ffffffffffffffff1\r\n", -EBADMSG, NULL, NULL},
        {"100\r\n", 0, "", ""},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        AUTO(buf_done) struct buf body = {.max = 100};
        struct str data = str_of(table[i].bytes);
        struct chunk_decoder d = {0};

        assert_int_equal(chunk_decode(&d, &data, &body), table[i].result);
        if (table[i].result < 0)
            continue;
        assert_string_equal(buf_str(&body), table[i].body);
        assert_true(str_eqz(data, table[i].rest));
    }
}

static void a_chunked_body_has_caps(void **state)
{
    AUTO(buf_done) struct buf body = {.max = 5}, ext = {0};
    struct chunk_decoder d = {0};
    struct str data = STR("3\r\nabc\r\n3\r\nabc\r\n");

    (void)state;
    assert_int_equal(chunk_decode(&d, &data, &body), -EMSGSIZE);
    for (int i = 0; i < 9000; i++)
        buf_addc(&ext, i ? 'x' : ';');
    d = (struct chunk_decoder){0};
    data = STR("1");
    assert_int_equal(chunk_decode(&d, &data, &body), 0);
    data = buf_view(&ext);
    assert_int_equal(chunk_decode(&d, &data, &body), -EBADMSG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(request_lines_are_exact),
        cmocka_unit_test(framing_is_unambiguous),
        cmocka_unit_test(there_is_one_host),
        cmocka_unit_test(a_nul_byte_is_refused),
        cmocka_unit_test(headers_are_found_in_any_case),
        cmocka_unit_test(too_many_headers_get_431),
        cmocka_unit_test(the_end_of_a_head_is_found_wherever_the_bytes_are_cut),
        cmocka_unit_test(chunks_decode_or_are_refused),
        cmocka_unit_test(a_chunked_body_has_caps),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
