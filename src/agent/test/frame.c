/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

#include "src/agent/frame.h"

static void a_frame_comes_back_as_it_was_sent(void **state)
{
    AUTO(buf_done) struct buf b = {0};
    struct str body;

    (void)state;
    frame_add(&b, STR("{\"call\":\"ping\"}"));
    assert_int_equal(b.n, 4 + 15);
    assert_memory_equal(b.p, "\0\0\0\017", 4);
    assert_int_equal(frame_peek(&b, &body), 1);
    assert_true(str_eqz(body, "{\"call\":\"ping\"}"));
    frame_drop(&b);
    assert_int_equal(b.n, 0);
}

static void frames_come_one_after_the_other(void **state)
{
    AUTO(buf_done) struct buf b = {0};
    struct str body;

    (void)state;
    frame_add(&b, STR("1"));
    frame_add(&b, STR("22"));
    assert_int_equal(frame_peek(&b, &body), 1);
    assert_true(str_eqz(body, "1"));
    frame_drop(&b);
    assert_int_equal(frame_peek(&b, &body), 1);
    assert_true(str_eqz(body, "22"));
    frame_drop(&b);
    assert_int_equal(frame_peek(&b, &body), 0);
}

static void every_cut_of_a_frame_waits_for_more(void **state)
{
    AUTO(buf_done) struct buf whole = {0};
    struct str body;

    (void)state;
    frame_add(&whole, STR("{\"ok\":true}"));
    for (size_t n = 0; n < whole.n; n++) {
        AUTO(buf_done) struct buf part = {0};

        buf_add(&part, whole.p, n);
        assert_int_equal(frame_peek(&part, &body), 0);
        assert_true(frame_want(&part) > 0);
    }
}

static void lengths_that_no_frame_has_are_refused(void **state)
{
    static const char *const heads[] = {"\0\0\0\0", "\377\377\377\377", "HTTP", "\014\0\0\001"};
    struct str body;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(heads); i++) {
        AUTO(buf_done) struct buf b = {0};

        buf_add(&b, heads[i], 4);
        assert_int_equal(frame_peek(&b, &body), -EBADMSG);
    }
}

static void the_room_asked_for_follows_the_length_within_limits(void **state)
{
    AUTO(buf_done) struct buf b = {0};

    (void)state;
    assert_int_equal(frame_want(&b), 16 << 10);
    buf_add(&b, "\0\1\0\0", 4);
    assert_int_equal(frame_want(&b), 1 << 16);
    buf_clear(&b);
    buf_add(&b, "\13\0\0\0", 4);
    assert_int_equal(frame_want(&b), 1 << 20);
}

static void an_empty_or_oversized_body_is_not_sent(void **state)
{
    AUTO(buf_done) struct buf b = {0};

    (void)state;
    frame_add(&b, (struct str){"", 0});
    assert_true(b.overflow);
    b.overflow = false;
    frame_add(&b, (struct str){"x", FRAME_MAX_BYTES + 1});
    assert_true(b.overflow);
    assert_int_equal(b.n, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_frame_comes_back_as_it_was_sent),
        cmocka_unit_test(frames_come_one_after_the_other),
        cmocka_unit_test(every_cut_of_a_frame_waits_for_more),
        cmocka_unit_test(lengths_that_no_frame_has_are_refused),
        cmocka_unit_test(the_room_asked_for_follows_the_length_within_limits),
        cmocka_unit_test(an_empty_or_oversized_body_is_not_sent),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
