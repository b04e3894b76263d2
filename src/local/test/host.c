/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of what the machine's control groups offer. */
#include "src/base/test/unit.h"

#include <stdio.h>

#include "src/base/alloc.h"
#include "src/base/file.h"
#include "src/local/host.h"

static void put(const char *top, const char *name, const char *text)
{
    AUTO(free) char *path = xasprintf("%s/%s", top, name);
    AUTO(free) char *dir = xstrdup(path);
    struct err e = {0};

    *strrchr(dir, '/') = '\0';
    assert_int_equal(file_make_dirs(dir, 0755, &e), 0);
    assert_int_equal(file_write(path, str_of(text), 0644, &e), 0);
}

static void jobs_are_limited_where_cpuset_and_memory_are_there(void **state)
{
    static const struct {
        const char *v2;        /* the list of controllers; NULL: it is v1 */
        const char *groups[3]; /* of v1 */
        const char *missing;
    } cases[] = {
        {"cpuset cpu io memory hugetlb pids\n", {NULL}, NULL},
        {"cpuset cpu io pids\n", {NULL}, "'memory'"},
        {"\n", {NULL}, "'cpuset'"},
        {"cpusets memory\n", {"cpuset", "memory"}, "'cpuset'"},
        {NULL, {"cpuset", "memory"}, NULL},
        {NULL, {"cpuset", "unified"}, "'memory'"},
        {NULL, {NULL}, "'cpuset'"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char top[] = "/tmp/sk-groups-XXXXXX";
        struct err e = {0};
        int r;

        assert_non_null(mkdtemp(top));
        if (cases[i].v2)
            put(top, "cgroup.controllers", cases[i].v2);
        for (const char *const *g = cases[i].groups; *g; g++) {
            AUTO(free) char *name = xasprintf("%s/cgroup.procs", *g);

            put(top, name, "");
        }
        r = host_limits_jobs(top, &e);
        assert_int_equal(r, cases[i].missing ? -ENOENT : 0);
        if (cases[i].missing)
            assert_non_null(strstr(e.text, cases[i].missing));
        assert_int_equal(file_remove_tree(top, NULL), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jobs_are_limited_where_cpuset_and_memory_are_there),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
