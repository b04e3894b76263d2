/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of values. */
#include "src/base/test/unit.h"

#include "src/slurm/profile.h"
#include "src/slurm/value.h"

#define R2205 RELEASE(22, 5, 8)
#define R2311 RELEASE(23, 11, 1)
#define R2511 RELEASE(25, 11, 0)

static void numbers_come_out_of_their_texts(void **state)
{
    static const struct {
        enum value_kind kind;
        const char *text;
        int result;
        uint64_t number;
    } cases[] = {
        {VALUE_BOOL, "YES", 0, 1},
        {VALUE_BOOL, "up", 0, 1},
        {VALUE_BOOL, "True", 0, 1},
        {VALUE_BOOL, "1", 0, 1},
        {VALUE_BOOL, "no", 0, 0},
        {VALUE_BOOL, "down", 0, 0},
        {VALUE_BOOL, "false", 0, 0},
        {VALUE_BOOL, "0", 0, 0},
        {VALUE_BOOL, "maybe", -EINVAL, 0},
        {VALUE_U16, "010", 0, 8},
        {VALUE_U16, "0x10", 0, 16},
        {VALUE_U16, "65534", 0, 65534},
        {VALUE_U16, "65535", 0, VALUE_INFINITE},
        {VALUE_U16, "65536", -ERANGE, 0},
        {VALUE_U16, "INFINITE", 0, VALUE_INFINITE},
        {VALUE_U16, "unlimited", 0, VALUE_INFINITE},
        {VALUE_U16, "4k", -EINVAL, 0},
        {VALUE_U16, "-1", -EINVAL, 0},
        {VALUE_U16, "", -EINVAL, 0},
        {VALUE_U16, "09", -EINVAL, 0},
        {VALUE_U32, "4k", 0, 4096},
        {VALUE_U32, "4294967295", 0, VALUE_INFINITE},
        {VALUE_U32, "4294967296", -ERANGE, 0},
        {VALUE_U64, "2K", 0, 2048},
        {VALUE_U64, "18446744073709551616", -ERANGE, 0},
        {VALUE_MINUTES, "1440", 0, 1440},
        {VALUE_MINUTES, "24:00:00", 0, 1440},
        {VALUE_MINUTES, "1-00:00:00", 0, 1440},
        {VALUE_MINUTES, "1-0", 0, 1440},
        {VALUE_MINUTES, "1-0:30", 0, 1470},
        {VALUE_MINUTES, "90:30", 0, 91},
        {VALUE_MINUTES, "0:0:1", 0, 1},
        {VALUE_MINUTES, "UNLIMITED", 0, VALUE_INFINITE},
        {VALUE_MINUTES, "-1", 0, VALUE_INFINITE},
        {VALUE_MINUTES, "1:2:3:4", -EINVAL, 0},
        {VALUE_MINUTES, "1-2-3", -EINVAL, 0},
        {VALUE_MINUTES, "1:2-3", -EINVAL, 0},
        {VALUE_MINUTES, "1-0:0:0:0", -EINVAL, 0},
        {VALUE_MINUTES, "soon", -EINVAL, 0},
        {VALUE_MINUTES, "5m", -EINVAL, 0},
        {VALUE_MINUTES, "99999999-0", -ERANGE, 0},
        {VALUE_SECONDS, "1:30", 0, 90},
        {VALUE_SUSPEND, "NONE", 0, VALUE_INFINITE},
        {VALUE_SUSPEND, "-1", 0, VALUE_INFINITE},
        {VALUE_SUSPEND, "300", 0, 300},
        {VALUE_OVERTIME, "UNLIMITED", 0, VALUE_INFINITE},
        {VALUE_OVERTIME, "5", 0, 5},
        {VALUE_LOGLEVEL, "debug2", 0, 6},
        {VALUE_LOGLEVEL, "6", 0, 6},
        {VALUE_LOGLEVEL, "loud", -EINVAL, 0},
        {VALUE_SHARE, "NO", 0, 1},
        {VALUE_SHARE, "exclusive", 0, 0},
        {VALUE_SHARE, "YES", 0, 4},
        {VALUE_SHARE, "YES:8", 0, 8},
        {VALUE_SHARE, "YES:1", -EINVAL, 0},
        {VALUE_SHARE, "FORCE", 0, 4 | VALUE_SHARE_FORCE},
        {VALUE_SHARE, "FORCE:1", 0, 1 | VALUE_SHARE_FORCE},
        {VALUE_SHARE, "FORCE:40000", -EINVAL, 0},
        {VALUE_SHARE, "YESTERDAY", -EINVAL, 0},
        {VALUE_PREEMPT, "suspend,gang", 0, VALUE_PREEMPT_SUSPEND | VALUE_PREEMPT_GANG},
        {VALUE_PREEMPT, "off", 0, 0},
        {VALUE_PREEMPT, "cancel,requeue", -EINVAL, 0},
        {VALUE_PREEMPT, "gang,within", -EINVAL, 0},
        {VALUE_TEXT, "5", -EOPNOTSUPP, 0},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        uint64_t number = 0;
        struct value_type type = {cases[i].kind, NULL};

        assert_int_equal(value_number(type, str_of(cases[i].text), &number), cases[i].result);
        assert_int_equal(number, cases[i].number);
    }
}

static void texts_that_mean_the_same_are_the_same(void **state)
{
    static const struct {
        struct value_type type;
        const char *a;
        const char *b;
        bool same;
    } cases[] = {
        {{VALUE_MINUTES}, "24:00:00", "1-00:00:00", true},
        {{VALUE_MINUTES}, "1440", "1-0", true},
        {{VALUE_MINUTES}, "24:00", "24", true},
        {{VALUE_MINUTES}, "24:00", "24:00:00", false},
        {{VALUE_MINUTES}, "INFINITE", "UNLIMITED", true},
        {{VALUE_U64}, "1K", "1024", true},
        {{VALUE_BOOL}, "YES", "TRUE", true},
        {{VALUE_BOOL}, "YES", "NO", false},
        {{VALUE_BOOL}, "what", "NO", false},
        {{VALUE_SHARE}, "FORCE", "force:4", true},
        {{VALUE_PREEMPT}, "GANG,SUSPEND", "suspend,gang", true},
        {{VALUE_LOGLEVEL}, "info", "3", true},
        {{VALUE_HOSTS}, "n[1-3]", "n3,n1,n2", true},
        {{VALUE_NODES}, "all", "ALL", true},
        {{VALUE_NODES}, "gpu,n[1-2]", "n1 n2 gpu", true},
        {{VALUE_HOSTS}, "n[1-", "n[1-", true},
        {{VALUE_HOSTS}, "n[1-", "n1", false},
        {{VALUE_OPTIONS}, "b, a", "a,b,a", true},
        {{VALUE_OPTIONS}, "A", "a", false},
        {{VALUE_NAMES}, "Physics,chem", "CHEM,physics", true},
        {{VALUE_WORD}, "Linux", "linux", true},
        {{VALUE_TEXT}, "Linux", "linux", false},
        {{VALUE_FLOAT}, "100", "100.0", true},
        {{VALUE_FLOAT}, "1x", "1", false},
        {{VALUE_ENUM, "NO ANY ALL YES:ANY"}, "yes", "ANY", true},
        {{VALUE_PREFIX, "UP DOWN"}, "UP", "upwards", true},
        {{VALUE_FLAGS, "a b"}, "A,b", "b,a", true},
        {{VALUE_PLUGIN, "auth/munge"}, "auth/munge", "AUTH/munge", true},
        {{VALUE_HOSTADDR}, "a(a)", "a", true},
        {{VALUE_HOSTADDR}, "a(b)", "a", false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_int_equal(value_same(cases[i].type, str_of(cases[i].a), str_of(cases[i].b)),
                         cases[i].same);
}

static void bad_values_are_told_what_is_allowed(void **state)
{
    static const struct {
        struct value_type type;
        uint32_t release;
        const char *text;
        int result;
        const char *error;
    } cases[] = {
        {{VALUE_U16},
         R2205,
         "-1",
         -EINVAL,
         "is not a number from 0 to 65535, INFINITE or UNLIMITED"},
        {{VALUE_BOOL}, R2205, "2", -EINVAL, "is neither YES nor NO"},
        {{VALUE_PORTS}, R2205, "6817-6820", 0, ""},
        {{VALUE_PORTS}, R2205, "0", -EINVAL, "is not a port from 1 to 65535, or a range of ports"},
        {{VALUE_PORTS},
         R2205,
         "10-9",
         -EINVAL,
         "is not a port from 1 to 65535, or a range of ports"},
        {{VALUE_ENUM, "NO ANY ALL YES:ANY"}, R2205, "some", -EINVAL, "is not NO, ANY or ALL"},
        {{VALUE_ENUM, "a b>23.11"}, R2205, "b", -EINVAL, "needs Slurm 23.11 or later"},
        {{VALUE_ENUM, "a b>23.11"}, R2311, "b", 0, ""},
        {{VALUE_ENUM, "a b<23.11"}, R2311, "b", -EINVAL, "is gone since Slurm 23.11"},
        {{VALUE_FLAGS, "x y"}, R2205, "x,z", -EINVAL, "has 'z', which is not x or y"},
        {{VALUE_FLAGS, "x y"}, R2205, "x,Y", 0, ""},
        {{VALUE_PLUGIN, "auth/munge auth/slurm>23.11"},
         R2205,
         "auth/slurm",
         -EINVAL,
         "needs Slurm 23.11 or later"},
        {{VALUE_PLUGIN, "auth/munge"}, R2205, "munge", -EINVAL, "does not start with 'auth/'"},
        {{VALUE_PLUGIN, "auth/munge"},
         R2205,
         "auth/own",
         -ENOTSUP,
         "is not a plugin of Slurm's own; it must be installed"},
        {{VALUE_PLUGINS, "task/affinity task/cgroup"}, R2205, "affinity,task/cgroup", 0, ""},
        {{VALUE_HOSTS},
         R2205,
         "n[1-2]-ib",
         -EINVAL,
         "has text after brackets, which needs Slurm 23.11; this cluster runs 22.05"},
        {{VALUE_HOSTS}, R2311, "n[1-2]-ib", 0, ""},
        {{VALUE_HOSTS},
         R2205,
         "n[1",
         -EINVAL,
         "is not a host list: host list 'n[1', column 2: the bracket is not closed"},
        {{VALUE_NODES}, R2511, "feature{[x", 0, ""},
        {{VALUE_HOSTADDR},
         R2205,
         "a(b",
         -EINVAL,
         "is not a host name, or a host name with an address in parentheses"},
        {{VALUE_HOSTADDR}, R2205, "a(b)", 0, ""},
        {{VALUE_FLOAT}, R2205, "1.5", 0, ""},
        {{VALUE_FLOAT}, R2205, "lots", -EINVAL, "is not a number"},
        {{VALUE_FLOAT}, R2205, "1.2.3", -EINVAL, "is not a number"},
        {{VALUE_FLOAT}, R2205, ".", -EINVAL, "is not a number"},
        {{VALUE_PREEMPT},
         R2205,
         "PRIORITY",
         -EINVAL,
         "has PRIORITY, which needs Slurm 25.05 or later"},
        {{VALUE_TEXT}, R2205, "anything", 0, ""},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct err e = {0};

        assert_int_equal(value_check(cases[i].type, cases[i].release, str_of(cases[i].text), &e),
                         cases[i].result);
        assert_string_equal(e.text, cases[i].error);
    }
}

static void numbers_print_in_slurms_form(void **state)
{
    static const struct {
        struct value_type type;
        uint64_t number;
        const char *text;
    } cases[] = {
        {{VALUE_MINUTES}, 1440, "1-00:00:00"},
        {{VALUE_MINUTES}, 90, "01:30:00"},
        {{VALUE_MINUTES}, VALUE_INFINITE, "UNLIMITED"},
        {{VALUE_U32}, 7, "7"},
        {{VALUE_U32}, VALUE_INFINITE, "UNLIMITED"},
        {{VALUE_BOOL}, 1, "YES"},
        {{VALUE_SHARE}, 4 | VALUE_SHARE_FORCE, "FORCE:4"},
        {{VALUE_SHARE}, 0, "EXCLUSIVE"},
        {{VALUE_SHARE}, 1, "NO"},
        {{VALUE_SHARE}, 2, "YES:2"},
        {{VALUE_PREEMPT}, 0, "OFF"},
        {{VALUE_PREEMPT}, VALUE_PREEMPT_SUSPEND | VALUE_PREEMPT_GANG, "SUSPEND,GANG"},
        {{VALUE_PREFIX, "UP DOWN"}, 1, "DOWN"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(buf_done) struct buf out = {0};

        value_print(cases[i].type, cases[i].number, &out);
        assert_string_equal(buf_str(&out), cases[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_come_out_of_their_texts),
        cmocka_unit_test(texts_that_mean_the_same_are_the_same),
        cmocka_unit_test(bad_values_are_told_what_is_allowed),
        cmocka_unit_test(numbers_print_in_slurms_form),
    };

    return cmocka_run_group_tests_name("value", tests, NULL, NULL);
}
