/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

#include "src/agent/worker/call.h"
#include "src/agent/worker/release.h"

static void every_code_has_the_kind_that_tells_what_to_do(void **state)
{
    static const struct {
        int code;
        const char *kind;
    } cases[] = {
        {SLURMCTLD_COMMUNICATIONS_CONNECTION_ERROR, "down"},
        {SLURMCTLD_COMMUNICATIONS_RECEIVE_ERROR, "down"},
        {SLURM_PROTOCOL_SOCKET_ZERO_BYTES_SENT, "down"},
        {5004, "down"},
        {SLURM_PROTOCOL_VERSION_ERROR, "down"},
        {SLURM_PROTOCOL_INSANE_MSG_LENGTH, "down"},
        {ECONNREFUSED, "down"},
        {ENOTCONN, "down"},
        {ECONNABORTED, "down"},
        {EPIPE, "down"},
        {ESLURM_ACCESS_DENIED, "denied"},
        {ESLURM_USER_ID_MISSING, "denied"},
        {SLURM_PROTOCOL_AUTHENTICATION_ERROR, "denied"},
        {6003, "denied"},
        {ESLURM_PARTITION_IN_USE, "busy"},
        {ESLURM_NODES_BUSY, "busy"},
        {ESLURM_IN_STANDBY_MODE, "busy"},
        {RELEASE_CODE_BACKOFF, "busy"},
        {ESLURM_INVALID_PARTITION_NAME, "refused"},
        {ESLURM_INVALID_NODE_NAME, "refused"},
        {EINVAL, "refused"},
        {7000, "refused"},
        {-1, "refused"},
        {0, "refused"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_string_equal(call_code_kind(cases[i].code), cases[i].kind);
}

static void a_refusal_has_kind_code_and_sentence(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct worker_call c = {.arena = &a, .answer = jsn_object(&a)};

    (void)state;
    assert_int_equal(call_refused(&c, ESLURM_PARTITION_IN_USE, "partition '%s'", "old"), -1);
    assert_false(jsn_get_bool(c.answer, "ok", true));
    assert_string_equal(jsn_get_str(c.answer, "error.kind"), "busy");
    assert_int_equal(jsn_get_int(c.answer, "error.code", 0), ESLURM_PARTITION_IN_USE);
    assert_string_equal(jsn_get_str(c.answer, "error.text"),
                        "partition 'old': Partition is in use");
}

static void what_is_missing_is_named(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct worker_call c = {.arena = &a, .answer = jsn_object(&a), .request = jsn_object(&a)};

    (void)state;
    assert_null(call_need(&c, "name"));
    assert_string_equal(jsn_get_str(c.answer, "error.kind"), "invalid");
    assert_string_equal(jsn_get_str(c.answer, "error.text"), "'name' is missing");
}

static void times_that_say_nothing_are_left_out(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct worker_call c = {.arena = &a, .answer = jsn_object(&a)};

    (void)state;
    call_put_time(&c, c.answer, "zero", 0);
    call_put_time(&c, c.answer, "none", (time_t)NO_VAL);
    call_put_time(&c, c.answer, "never", (time_t)INFINITE);
    call_put_time(&c, c.answer, "then", 1700000000);
    call_put_text(&c, c.answer, "empty", "");
    call_put_text(&c, c.answer, "null", NULL);
    assert_int_equal(jsn_len(c.answer), 1);
    assert_int_equal(jsn_get_int(c.answer, "then", 0), 1700000000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_has_the_kind_that_tells_what_to_do),
        cmocka_unit_test(a_refusal_has_kind_code_and_sentence),
        cmocka_unit_test(what_is_missing_is_named),
        cmocka_unit_test(times_that_say_nothing_are_left_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
