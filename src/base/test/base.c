/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of the ground: errors, strings, buffers, maps, clocks, encodings, files. */
#include "src/base/test/unit.h"

#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "src/base/alloc.h"
#include "src/base/arena.h"
#include "src/base/clock.h"
#include "src/base/encode.h"
#include "src/base/file.h"
#include "src/base/hash.h"
#include "src/base/list.h"
#include "src/base/map.h"
#include "src/base/texts.h"

static void wrapping_an_error_puts_context_before_it(void **state)
{
    struct err e = {0};

    (void)state;
    assert_int_equal(err_set(&e, -EBUSY, ERR_RETRY, "node %s is busy", "n1"), -EBUSY);
    assert_int_equal(err_wrap(&e, -EBUSY, "node set '%s'", "gpu"), -EBUSY);
    assert_string_equal(e.text, "node set 'gpu': node n1 is busy");
    assert_int_equal(e.class, ERR_RETRY);
    assert_int_equal(err_errno(&e, ENOENT, "cannot open '%s'", "x"), -ENOENT);
    assert_string_equal(e.text, "cannot open 'x': No such file or directory");
}

static void an_overlong_error_is_cut_visibly(void **state)
{
    char big[2000];
    struct err e = {0};

    (void)state;
    memset(big, 'x', sizeof(big) - 1);
    big[sizeof(big) - 1] = '\0';
    assert_int_equal(err_bad(&e, "%s", big), -EINVAL);
    assert_int_equal(strlen(e.text), sizeof(e.text) - 1);
    assert_string_equal(e.text + strlen(e.text) - 3, "...");
    assert_int_equal(err_bad(NULL, "nobody listens"), -EINVAL);
}

static void splitting_visits_every_part(void **state)
{
    struct str s = STR("a,,b");
    struct str part;

    (void)state;
    assert_true(str_split(&s, ',', &part) && str_eqz(part, "a"));
    assert_true(str_split(&s, ',', &part) && str_eqz(part, ""));
    assert_true(str_split(&s, ',', &part) && str_eqz(part, "b"));
    assert_false(str_split(&s, ',', &part));
}

static void numbers_are_whole_or_refused(void **state)
{
    static const struct {
        const char *text;
        int result;
        int64_t value;
    } cases[] = {
        {"0", 0, 0},
        {"-1", 0, -1},
        {"9223372036854775807", 0, INT64_MAX},
        {"-9223372036854775808", 0, INT64_MIN},
        {"9223372036854775808", -ERANGE, 0},
        {"", -EINVAL, 0},
        {"-", -EINVAL, 0},
        {" 1", -EINVAL, 0},
        {"1x", -EINVAL, 0},
        {"+1", -EINVAL, 0},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        int64_t v = 0;

        assert_int_equal(str_to_i64(str_of(cases[i].text), &v), cases[i].result);
        assert_int_equal(v, cases[i].value);
    }
}

static void utf8_is_checked_strictly(void **state)
{
    (void)state;
    assert_true(str_utf8_ok(STR("gr\xc3\xbc\xc3\x9f \xf0\x9f\x98\x80")));
    assert_false(str_utf8_ok(STR("\xc0\x80")));
    assert_false(str_utf8_ok(STR("\xed\xa0\x80")));
    assert_false(str_utf8_ok(STR("\xf5\x80\x80\x80")));
    assert_false(str_utf8_ok(STR("\xc3")));
    for (size_t n = 0; n <= 24; n++) {
        char text[26] = "abcdefghijklmnopqrstuvwx";

        assert_true(str_utf8_ok((struct str){text, n}));
        text[n] = '\xff';
        assert_false(str_utf8_ok((struct str){text, n + 1}));
    }
}

static void code_points_become_utf8(void **state)
{
    static const struct {
        uint32_t c;
        const char *text;
    } cases[] = {
        {'a', "a"},
        {0x7ff, "\xdf\xbf"},
        {0x20ac, "\xe2\x82\xac"},
        {0x10ffff, "\xf4\x8f\xbf\xbf"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char out[4];

        assert_true(str_eqz((struct str){out, str_put_utf8(out, cases[i].c)}, cases[i].text));
    }
    assert_int_equal(str_hex_digit('9') * 100 + str_hex_digit('f') + str_hex_digit('A'), 925);
    assert_int_equal(str_hex_digit('g'), -1);
}

static void a_full_buffer_drops_what_does_not_fit(void **state)
{
    AUTO(buf_done) struct buf b = {.max = 5};

    (void)state;
    buf_adds(&b, "abc");
    buf_adds(&b, "def");
    buf_adds(&b, "g");
    assert_true(b.overflow);
    assert_string_equal(buf_str(&b), "abc");
    buf_clear(&b);
    buf_printf(&b, "%d", 12345);
    assert_false(b.overflow);
    buf_eat(&b, 3);
    assert_string_equal(buf_str(&b), "45");
}

static void a_buffer_is_sent_as_far_as_the_peer_takes_it(void **state)
{
    AUTO(buf_done) struct buf b = {0};
    char piece[4096] = "";
    size_t got = 0;
    int fds[2];

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    for (int i = 0; i < 1024; i++)
        buf_add(&b, piece, sizeof(piece));
    assert_int_equal(buf_send(&b, fds[0]), 0);
    assert_true(b.n > 0 && b.n < 1024 * sizeof(piece));
    while (got < 1024 * sizeof(piece)) {
        ssize_t n = read(fds[1], piece, sizeof(piece));

        assert_true(n > 0);
        got += (size_t)n;
        assert_int_equal(buf_send(&b, fds[0]), 0);
    }
    assert_int_equal(b.n, 0);
    (void)close(fds[1]);
    buf_adds(&b, "left");
    assert_int_equal(buf_send(&b, fds[0]), -EPIPE);
    (void)close(fds[0]);
}

static void a_map_keeps_what_was_put(void **state)
{
    AUTO(map_done) struct map m = {0};
    struct str key;
    size_t seen = 0;
    size_t at = 0;
    char *value;
    char name[32];

    (void)state;
    map_init(&m, free);
    for (int i = 0; i < 1000; i++) {
        (void)snprintf(name, sizeof(name), "key-%d", i);
        assert_true(map_put(&m, str_of(name), xstrdup(name)));
    }
    assert_false(map_put(&m, STR("key-7"), xstrdup("seven")));
    assert_string_equal(map_get(&m, STR("key-7")), "seven");
    for (int i = 0; i < 1000; i += 2) {
        (void)snprintf(name, sizeof(name), "key-%d", i);
        assert_true(map_del(&m, str_of(name)));
    }
    assert_null(map_get(&m, STR("key-8")));
    while (map_next(&m, &at, &key, &value))
        seen++;
    assert_int_equal(seen, 500);
    assert_int_equal(m.n, 500);
}

struct member {
    struct list link;
    int n;
};

static void a_list_member_may_leave_while_visited(void **state)
{
    struct member m[4] = {{.n = 0}, {.n = 1}, {.n = 2}, {.n = 3}};
    struct list head;
    int sum = 0;

    (void)state;
    list_init(&head);
    for (size_t i = 0; i < ARRAY_LEN(m); i++)
        list_append(&head, &m[i].link);
    LIST_FOR_EACH (x, &head, struct member, link) {
        sum += x->n;
        list_remove(&x->link);
    }
    assert_int_equal(sum, 6);
    assert_true(list_empty(&head));
}

static void ages_read_as_in_kubectl(void **state)
{
    static const struct {
        int64_t s;
        const char *text;
    } cases[] = {
        {-5, "<invalid>"}, {0, "0s"},        {119, "119s"},      {120, "2m"},
        {303, "5m3s"},     {600, "10m"},     {10200, "170m"},    {25500, "7h5m"},
        {169200, "47h"},   {622800, "7d5h"}, {60480000, "700d"}, {96336000, "3y20d"},
        {283824000, "9y"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char text[CLOCK_AGE_LEN];

        clock_age(cases[i].s, text);
        assert_string_equal(text, cases[i].text);
    }
}

static void seconds_from_outside_do_not_overflow(void **state)
{
    (void)state;
    assert_int_equal(clock_s_to_ms(30), 30000);
    assert_int_equal(clock_s_to_us(-30), -30000000);
    assert_true(clock_s_to_us(INT64_MAX) > INT64_MAX / 5);
    assert_true(clock_s_to_us(INT64_MAX) < INT64_MAX / 2);
    assert_true(clock_s_to_ms(INT64_MIN) > INT64_MIN / 2);
}

static void rfc3339_goes_both_ways(void **state)
{
    char text[CLOCK_RFC3339_LEN];
    int64_t us = 0;

    (void)state;
    assert_int_equal(clock_parse_rfc3339(STR("2026-01-09T10:00:00.25+02:00"), &us), 0);
    clock_rfc3339_micro(us, text);
    assert_string_equal(text, "2026-01-09T08:00:00.250000Z");
    clock_rfc3339(us, text);
    assert_string_equal(text, "2026-01-09T08:00:00Z");
    assert_int_equal(clock_parse_rfc3339(STR("2026-13-09T10:00:00Z"), &us), -EINVAL);
    assert_int_equal(clock_parse_rfc3339(STR("yesterday"), &us), -EINVAL);
}

static void base64_is_strict(void **state)
{
    AUTO(buf_done) struct buf b = {0};

    (void)state;
    encode_base64(&b, STR("any carnal pleas"));
    assert_string_equal(buf_str(&b), "YW55IGNhcm5hbCBwbGVhcw==");
    buf_clear(&b);
    assert_int_equal(decode_base64(&b, STR("YW55IGNhcm5hbCBwbGVhcw==")), 0);
    assert_string_equal(buf_str(&b), "any carnal pleas");
    assert_int_equal(decode_base64(&b, STR("YW55 ")), -EINVAL);
    assert_int_equal(decode_base64(&b, STR("A")), -EINVAL);
    buf_clear(&b);
    encode_base64url(&b, STR("\xff\xfe"));
    assert_string_equal(buf_str(&b), "__4");
}

static void percent_encoding_goes_both_ways(void **state)
{
    AUTO(buf_done) struct buf b = {0};

    (void)state;
    encode_url(&b, STR("a=b c/\xc3\xbc"));
    assert_string_equal(buf_str(&b), "a%3Db%20c%2F%C3%BC");
    buf_clear(&b);
    assert_int_equal(decode_url(&b, STR("a%3Db+c"), true), 0);
    assert_string_equal(buf_str(&b), "a=b c");
    assert_int_equal(decode_url(&b, STR("%4"), true), -EINVAL);
    assert_int_equal(decode_url(&b, STR("%00"), true), -EINVAL);
    assert_int_equal(decode_url(&b, STR("%zz"), true), -EINVAL);
}

static void a_file_is_replaced_whole(void **state)
{
    char dir[] = "/tmp/base-test-XXXXXX";
    AUTO(free) char *text = NULL;
    char path[64];
    struct err e = {0};
    struct stat st;
    bool changed = false;

    (void)state;
    assert_non_null(mkdtemp(dir));
    (void)snprintf(path, sizeof(path), "%s/a/b", dir);
    assert_int_equal(file_make_dirs(path, 0755, &e), 0);
    (void)snprintf(path, sizeof(path), "%s/a/b/file", dir);
    assert_int_equal(file_write(path, STR("one"), 0600, &e), 0);
    assert_int_equal(file_update(path, STR("one"), 0600, &changed, &e), 0);
    assert_false(changed);
    assert_int_equal(file_update(path, STR("two"), 0600, &changed, &e), 0);
    assert_true(changed);
    assert_int_equal(file_read(path, 100, &text, NULL, &e), 0);
    assert_string_equal(text, "two");
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    free(TAKE(text));
    assert_int_equal(file_read(path, 2, &text, NULL, &e), -EFBIG);
    assert_int_equal(file_remove_tree(dir, &e), 0);
    assert_false(file_exists(dir));
}

static void modes_do_not_depend_on_the_umask(void **state)
{
    static const mode_t masks[] = {0, 022, 027, 077};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(masks); i++) {
        char dir[] = "/tmp/base-test-XXXXXX";
        mode_t old = umask(masks[i]);
        char path[64];
        struct stat st;

        assert_non_null(mkdtemp(dir));
        (void)snprintf(path, sizeof(path), "%s/a/b", dir);
        assert_int_equal(file_make_dirs(path, 02775, NULL), 0);
        assert_int_equal(stat(path, &st), 0);
        assert_int_equal(st.st_mode & 07777, 02775);
        (void)snprintf(path, sizeof(path), "%s/a/file", dir);
        assert_int_equal(file_write(path, STR("x"), 0666, NULL), 0);
        assert_int_equal(stat(path, &st), 0);
        assert_int_equal(st.st_mode & 07777, 0666);
        assert_int_equal(file_remove_tree(dir, NULL), 0);
        (void)umask(old);
    }
}

static void stable_hashes_do_not_change(void **state)
{
    char hex[SHA256_HEX_LEN + 1];

    (void)state;
    assert_int_equal(hash_stable32(STR("foobar")), 0xbf9cf968);
    assert_true(hash_stable64(STR("foobar")) == 0x85944171f73967e8U);
    hash_sha256_hex(STR("abc"), hex);
    assert_string_equal(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_true(hash_str(STR("x")) == hash_str(STR("x")));
}

static void an_arena_holds_small_and_large_pieces(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    char *small = arena_printf(&a, "%s-%d", "x", 7);
    char *large = arena_alloc(&a, 1 << 20);
    int *items = NULL;
    size_t cap = 0;

    (void)state;
    memset(large, 1, 1 << 20);
    assert_string_equal(small, "x-7");
    for (int i = 0; i < 100; i++) {
        arena_reserve(&a, &items, &cap, (size_t)i + 1, sizeof(*items));
        items[i] = i;
    }
    assert_int_equal(items[99], 99);
    assert_true(a.total_bytes >= 1 << 20);
}

static void a_rewound_arena_keeps_what_was_before(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    char *kept = arena_strdup(&a, "kept");
    struct arena_mark m = arena_mark(&a);
    size_t before = a.total_bytes;

    (void)state;
    for (int i = 0; i < 100; i++)
        (void)arena_alloc(&a, 5000);
    arena_rewind(&a, m);
    assert_int_equal(a.total_bytes, before);
    assert_string_equal(kept, "kept");
    arena_done(&a);
    m = arena_mark(&a);
    (void)arena_alloc(&a, 1);
    arena_rewind(&a, m);
    assert_int_equal(a.total_bytes, 0);
}

static void entries_of_directories_are_counted(void **state)
{
    char dir[] = "/tmp/sk-count-XXXXXX";
    AUTO(free) char *file = NULL;
    struct err e = {0};

    (void)state;
    assert_int_equal(file_dir_count("/nonexistent"), -1);
    assert_non_null(mkdtemp(dir));
    assert_int_equal(file_dir_count(dir), 0);
    file = xasprintf("%s/.hidden", dir);
    assert_int_equal(file_write(file, STR(""), 0600, &e), 0);
    assert_int_equal(file_dir_count(dir), 1);
    assert_int_equal(file_dir_count(file), -1);
    assert_int_equal(file_remove_tree(dir, &e), 0);
}

static void lists_of_texts_are_copied_whole(void **state)
{
    static const char *const list[] = {"a", "", "c d", NULL};
    char **copy = texts_copy(list);
    char **empty = texts_copy(NULL);

    (void)state;
    for (size_t i = 0; list[i]; i++) {
        assert_string_equal(copy[i], list[i]);
        assert_ptr_not_equal(copy[i], list[i]);
    }
    assert_null(copy[3]);
    assert_null(empty[0]);
    assert_null(texts_free(copy));
    assert_null(texts_free(empty));
    assert_null(texts_free(NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrapping_an_error_puts_context_before_it),
        cmocka_unit_test(an_overlong_error_is_cut_visibly),
        cmocka_unit_test(splitting_visits_every_part),
        cmocka_unit_test(numbers_are_whole_or_refused),
        cmocka_unit_test(utf8_is_checked_strictly),
        cmocka_unit_test(code_points_become_utf8),
        cmocka_unit_test(a_full_buffer_drops_what_does_not_fit),
        cmocka_unit_test(a_buffer_is_sent_as_far_as_the_peer_takes_it),
        cmocka_unit_test(a_map_keeps_what_was_put),
        cmocka_unit_test(a_list_member_may_leave_while_visited),
        cmocka_unit_test(ages_read_as_in_kubectl),
        cmocka_unit_test(seconds_from_outside_do_not_overflow),
        cmocka_unit_test(rfc3339_goes_both_ways),
        cmocka_unit_test(base64_is_strict),
        cmocka_unit_test(percent_encoding_goes_both_ways),
        cmocka_unit_test(a_file_is_replaced_whole),
        cmocka_unit_test(modes_do_not_depend_on_the_umask),
        cmocka_unit_test(stable_hashes_do_not_change),
        cmocka_unit_test(an_arena_holds_small_and_large_pieces),
        cmocka_unit_test(a_rewound_arena_keeps_what_was_before),
        cmocka_unit_test(entries_of_directories_are_counted),
        cmocka_unit_test(lists_of_texts_are_copied_whole),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
