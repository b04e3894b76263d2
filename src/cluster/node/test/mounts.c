/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of the table of mounts. */
#include "src/base/test/unit.h"

#include "src/base/alloc.h"
#include "src/base/buf.h"
#include "src/base/file.h"
#include "src/cluster/node/mounts.h"

struct seen {
    struct buf text;
    size_t most;
    size_t n;
};

static bool note(void *arg, const char *path, const char *fs_type)
{
    struct seen *s = arg;

    buf_printf(&s->text, "%s%s=%s", s->n ? " " : "", path, fs_type);
    return ++s->n < s->most;
}

static void read_table(const char *table, struct seen *s)
{
    char path[] = "/tmp/sk-mounts-XXXXXX";
    int fd = mkstemp(path);
    struct err e = {0};

    assert_true(fd >= 0);
    (void)close(fd);
    assert_int_equal(file_write(path, str_of(table), 0600, &e), 0);
    assert_int_equal(mounts_each_in(path, note, s, &e), 0);
    (void)unlink(path);
}

static void lines_are_read_as_the_kernel_writes_them(void **state)
{
    static const char *const cases[][2] = {
        {"", ""},
        {"22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n", "/=ext4"},
        /* no optional fields, and several */
        {"22 1 0:4 / /proc rw - proc proc rw\n"
         "23 1 0:5 / /sys rw shared:1 master:2 - sysfs sysfs rw\n",
         "/proc=proc /sys=sysfs"},
        /* blanks, tabs, newlines and backslashes are octal */
        {"22 1 0:4 / /a\\040b\\134c rw - tmpfs none rw\n", "/a b\\c=tmpfs"},
        {"22 1 0:4 / /a\\0 rw - tmpfs none rw\n", "/a\\0=tmpfs"},
        {"22 1 0:4 / /a\\999 rw - tmpfs none rw\n", "/a\\999=tmpfs"},
        {"22 1 0:4 / /a\\011 rw - tmpfs none rw\n", "/a\t=tmpfs"},
        /* what is no line of the table is passed over */
        {"rubbish\n22 1 0:4 / /a rw\n22 1 0:4 / /b rw - tmpfs none rw\n", "/b=tmpfs"},
        /* a dash before its place is a name like any other */
        {"22 1 0:4 - /a rw - tmpfs none rw\n", "/a=tmpfs"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct seen s = {.most = 10};

        read_table(cases[i][0], &s);
        assert_string_equal(buf_str(&s.text), cases[i][1]);
        buf_done(&s.text);
    }
}

static void a_visitor_may_stop(void **state)
{
    struct seen s = {.most = 1};

    (void)state;
    read_table("1 1 0:4 / /a rw - x x rw\n2 1 0:4 / /b rw - x x rw\n", &s);
    assert_string_equal(buf_str(&s.text), "/a=x");
    buf_done(&s.text);
}

static void the_machine_has_a_root_and_no_nonsense(void **state)
{
    (void)state;
    assert_true(mounts_is_one("/proc"));
    assert_false(mounts_is_one("/proc/self"));
    assert_false(mounts_is_one(""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_read_as_the_kernel_writes_them),
        cmocka_unit_test(a_visitor_may_stop),
        cmocka_unit_test(the_machine_has_a_root_and_no_nonsense),
    };

    return cmocka_run_group_tests_name("mounts", tests, NULL, NULL);
}
