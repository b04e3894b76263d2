/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of container logs: what the shim writes, kubectl reads; and of a run's end on disk. */
#include "src/base/test/unit.h"

#include <stdio.h>
#include <sys/stat.h>

#include "src/base/alloc.h"
#include "src/base/clock.h"
#include "src/base/file.h"
#include "src/cluster/node/pods/ending.h"
#include "src/cluster/node/serve/log_lines.h"
#include "src/cluster/node/shim/shim.h"

#define T0 (INT64_C(1767952800) * 1000000) /* 2026-01-09T10:00:00Z */

static char dir[] = "/tmp/node-logs-XXXXXX";
static char *path;

static int set_up(void **state)
{
    (void)state;
    memcpy(dir + sizeof(dir) - 7, "XXXXXX", 6);
    path = mkdtemp(dir) ? xasprintf("%s/0.log", dir) : NULL;
    return path ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    free(path);
    return file_remove_tree(dir, NULL);
}

static void write_log(int64_t max_bytes, unsigned int files, const char *const *pieces)
{
    struct shim_log l = {.path = path, .max_bytes = max_bytes, .max_files = files, .fd = -1};

    shim_log_open(&l);
    for (int64_t i = 0; pieces[i]; i++) {
        int stream = pieces[i][0] == '!' ? 2 : 1;

        shim_log_write(&l, stream, str_of(pieces[i] + (stream == 2)), T0 + i * 1000000);
    }
    shim_log_close(&l, T0);
}

static void assert_read(const struct log_query *q, const char *expected)
{
    AUTO(buf_done) struct buf b = {0};

    assert_int_equal(log_lines_read(path, q, &b), 0);
    assert_string_equal(buf_str(&b), expected);
}

static void lines_come_back_as_they_were(void **state)
{
    static const char *const pieces[] = {"one\ntw", "!err\n", "o\n", "\n", "end", NULL};
    AUTO(free) char *text = NULL;
    size_t n;

    (void)state;
    write_log(1 << 20, 3, pieces);
    assert_int_equal(file_read(path, 4096, &text, &n, NULL), 0);
    assert_string_equal(text, "2026-01-09T10:00:00.000000000Z stdout F one\n"
                              "2026-01-09T10:00:01.000000000Z stderr F err\n"
                              "2026-01-09T10:00:02.000000000Z stdout F two\n"
                              "2026-01-09T10:00:03.000000000Z stdout F \n"
                              "2026-01-09T10:00:00.000000000Z stdout P end\n");
    assert_read(&(struct log_query){0}, "one\nerr\ntwo\n\nend");
}

static void queries_choose_lines(void **state)
{
    static const char *const pieces[] = {"a\n", "b\n", "c\n", "d\n", NULL};

    (void)state;
    write_log(1 << 20, 3, pieces);
    assert_read(&(struct log_query){.tail = 2}, "c\nd\n");
    assert_read(&(struct log_query){.tail = 99}, "a\nb\nc\nd\n");
    assert_read(&(struct log_query){.none_at_all = true}, "");
    assert_read(&(struct log_query){.since_us = T0 + 2000000}, "c\nd\n");
    assert_read(&(struct log_query){.limit_bytes = 3}, "a\nb");
    assert_read(&(struct log_query){.tail = 1, .timestamps = true},
                "2026-01-09T10:00:03.000000000Z d\n");
}

static void long_lines_are_cut_and_joined(void **state)
{
    AUTO(free) char *line = xmalloc(40002);
    const char *pieces[] = {line, NULL};

    (void)state;
    memset(line, 'x', 40000);
    memcpy(line + 40000, "\n", 2);
    write_log(1 << 20, 3, pieces);
    assert_read(&(struct log_query){0}, line);
    assert_read(&(struct log_query){.tail = 1}, line);
}

static void a_flood_is_cut_and_its_size_told(void **state)
{
    struct shim_log l = {.path = path, .max_bytes = 1 << 20, .max_files = 2, .fd = -1};
    AUTO(buf_done) struct buf b = {0};
    struct buf line = {0};
    static char xs[1000];

    (void)state;
    memset(xs, 'x', sizeof(xs) - 1);
    buf_printf(&line, "%s\n", xs);
    shim_log_open(&l);
    for (int i = 0; i < 10000; i++)
        shim_log_write(&l, 1, buf_view(&line), T0);
    shim_log_write(&l, 1, STR("lost, too\n"), T0 + 1000);
    shim_log_write(&l, 1, STR("after a while\n"), T0 + 2000000);
    shim_log_close(&l, T0 + 2000000);
    buf_done(&line);
    assert_int_equal(log_lines_read(path, &(struct log_query){.tail = 3}, &b), 0);
    assert_true(starts_with(buf_str(&b), "xxx"));
    assert_non_null(strstr(buf_str(&b), "x\nslurmkeeper: "));
    assert_true(ends_with(buf_str(&b),
                          " bytes of output were not kept: they came too fast\nafter a while\n"));
    assert_int_equal(l.dropped, 0);
}

static void logs_are_rotated_by_size_and_read_in_order(void **state)
{
    struct shim_log l = {.path = path, .max_bytes = 200, .max_files = 3, .fd = -1};
    AUTO(buf_done) struct buf b = {0};
    AUTO(free) char *oldest = xasprintf("%s.3", path);
    AUTO(free) char *old = xasprintf("%s.2", path);

    (void)state;
    shim_log_open(&l);
    for (int i = 0; i < 40; i++) {
        char text[16];

        (void)snprintf(text, sizeof(text), "%d\n", i);
        shim_log_write(&l, 1, str_of(text), T0);
    }
    shim_log_close(&l, T0);
    assert_false(file_exists(oldest));
    assert_true(file_exists(old));
    assert_int_equal(log_lines_read(path, &(struct log_query){0}, &b), 0);
    assert_true(ends_with(buf_str(&b), "36\n37\n38\n39\n"));
    assert_int_equal(log_lines_read(path, &(struct log_query){.tail = 6}, &b), 0);
    assert_true(ends_with(buf_str(&b), "39\n34\n35\n36\n37\n38\n39\n"));
}

static void what_is_no_log_is_passed_over(void **state)
{
    (void)state;
    assert_int_equal(file_write(path, STR("garbage\n\nx y\na stdout F ok\n b b b b\n"), 0600, NULL),
                     0);
    assert_read(&(struct log_query){0}, "ok\n");
    assert_int_equal(unlink(path), 0);
    assert_read(&(struct log_query){0}, "");
}

static void write_status(const char *name, struct shim_status s)
{
    AUTO(free) char *sub = xasprintf("%s/%s", dir, name);

    assert_int_equal(mkdir(sub, 0700), 0);
    shim_status_write(sub, &s);
}

static void the_end_of_a_run_is_read_as_it_was_written(void **state)
{
    static const struct {
        const char *name;
        struct shim_status status;
        int code;
        int signal;
        const char *reason;
        const char *message;
    } cases[] = {
        {"ok",
         {.pid = 7, .started_us = T0, .finished_us = T0, .exited = true},
         0,
         0,
         "Completed",
         NULL},
        {"bad",
         {.pid = 7, .started_us = T0, .exited = true, .wait_status = 3 << 8},
         3,
         0,
         "Error",
         NULL},
        {"killed",
         {.pid = 7, .started_us = T0, .exited = true, .wait_status = 9},
         137,
         9,
         "Error",
         NULL},
        {"oom",
         {.pid = 7, .started_us = T0, .exited = true, .wait_status = 9, .oom = true},
         137,
         9,
         "OOMKilled",
         NULL},
        {"start",
         {.error = "exec: \"x\" not found\n"},
         128,
         0,
         "StartError",
         "exec: \"x\" not found "},
        {"lost",
         {.pid = 7, .started_us = T0},
         137,
         0,
         "ContainerStatusUnknown",
         "The container could not be located when the pod was terminated"},
    };
    struct ctr_spec spec = {0};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(free) char *sub = xasprintf("%s/%s", dir, cases[i].name);
        struct ctr_end end = {0};
        int64_t started;
        struct process_id process;

        write_status(cases[i].name, cases[i].status);
        ending_read(&end, sub, path, &spec, "id");
        assert_int_equal(end.exit_code, cases[i].code);
        assert_int_equal(end.signal, cases[i].signal);
        assert_string_equal(end.reason, cases[i].reason);
        if (cases[i].message)
            assert_string_equal(end.message, cases[i].message);
        assert_int_equal(ending_is_known(sub), !streq(cases[i].name, "lost"));
        assert_int_equal(ending_started(sub, &process, &started) == 0, cases[i].status.pid == 7);
        ending_done(&end);
    }
}

static void the_message_is_the_containers_own_or_the_end_of_its_log(void **state)
{
    static const char *const pieces[] = {"last words\n", NULL};
    AUTO(free) char *sub = xasprintf("%s/m", dir);
    AUTO(free) char *message = xasprintf("%s/m/termination-log", dir);
    struct ctr_spec spec = {.message_from_logs = true};
    struct ctr_end end = {0};

    (void)state;
    write_log(1 << 20, 3, pieces);
    write_status("m", (struct shim_status){.pid = 7, .exited = true, .wait_status = 1 << 8});
    ending_read(&end, sub, path, &spec, "id");
    assert_string_equal(end.message, "last words\n");
    assert_int_equal(file_write(message, STR("because"), 0600, NULL), 0);
    ending_read(&end, sub, path, &spec, "id");
    assert_string_equal(end.message, "because");
    ending_done(&end);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(lines_come_back_as_they_were, set_up, tear_down),
        cmocka_unit_test_setup_teardown(queries_choose_lines, set_up, tear_down),
        cmocka_unit_test_setup_teardown(long_lines_are_cut_and_joined, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_flood_is_cut_and_its_size_told, set_up, tear_down),
        cmocka_unit_test_setup_teardown(logs_are_rotated_by_size_and_read_in_order, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(what_is_no_log_is_passed_over, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_end_of_a_run_is_read_as_it_was_written, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(the_message_is_the_containers_own_or_the_end_of_its_log,
                                        set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
