/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of control groups, over trees of plain files: v1, hybrid and v2 machines. */
#include "src/cluster/node/test/parse.h"

#include <stdio.h>
#include <sys/stat.h>

#include "src/base/file.h"
#include "src/cluster/node/cgroup.h"

static char dir[] = "/tmp/sk-cgroup-XXXXXX";

/* The machine has a hierarchy of this type mounted at TOP/NAME; "" is the top itself. */
struct hierarchy {
    const char *name;
    const char *type;
};

struct machine {
    struct hierarchy hierarchies[4];
    const char *controllers; /* of v2 */
    bool v2, hybrid, memory, pids;
    const char *oom_file; /* of group /a/b, below the top */
};

static const struct machine machines[] = {
    {{{"memory", "cgroup"}, {"cpu,cpuacct", "cgroup"}, {"pids", "cgroup"}},
     NULL,
     false,
     false,
     true,
     true,
     "memory/a/b/memory.oom_control"},
    {{{"memory", "cgroup"}, {"unified", "cgroup2"}},
     "hugetlb pids",
     false,
     true,
     true,
     false,
     "memory/a/b/memory.oom_control"},
    {{{"", "cgroup2"}}, "cpuset cpu io memory pids", true, false, true, true, "a/b/memory.events"},
    {{{"", "cgroup2"}}, "hugetlb", true, false, false, false, "a/b/memory.events"},
};

static void put(struct arena *a, const char *path, const char *text)
{
    bool changed;

    assert_int_equal(
        file_update(arena_printf(a, "%s/%s", dir, path), str_of(text), 0644, &changed, NULL), 0);
}

static const char *content_of(struct arena *a, const char *path)
{
    AUTO(free) char *text = NULL;
    size_t n = 0;

    if (file_read(arena_printf(a, "%s/%s", dir, path), 4096, &text, &n, NULL) < 0)
        return NULL;
    return arena_strdup(a, text);
}

/* The files that a kernel would have in these groups. */
static void make_group(struct arena *a, const char *group)
{
    static const char *const files[] = {"cgroup.subtree_control", "memory.max", "cpu.max",
                                        "cpu.weight", "pids.max"};

    assert_int_equal(file_make_dirs(arena_printf(a, "%s/%s", dir, group), 0755, NULL), 0);
    for (size_t i = 0; i < ARRAY_LEN(files); i++)
        put(a, arena_printf(a, "%s/%s", group, files[i]), "");
}

static struct cgroup_tree *tree_of(struct arena *a, const struct machine *m)
{
    AUTO(buf_done) struct buf table = {0};
    struct cgroup_tree *t = NULL;

    buf_adds(&table, "20 1 0:5 / / rw - ext4 /dev/sda rw\n"
                     "21 20 0:6 / /elsewhere/cgroup rw - cgroup2 none rw\n");
    for (const struct hierarchy *h = m->hierarchies; h->name; h++) {
        const char *at = h->name[0] ? arena_printf(a, "/%s", h->name) : "";

        assert_int_equal(file_make_dirs(arena_printf(a, "%s%s", dir, at), 0755, NULL), 0);
        buf_printf(&table, "30 20 0:9 / %s%s rw,relatime shared:5 - %s none rw\n", dir, at,
                   h->type);
        if (streq(h->type, "cgroup2"))
            put(a, arena_printf(a, ".%s/cgroup.controllers", at), m->controllers);
    }
    put(a, "table", buf_str(&table));
    assert_int_equal(cgroup_tree_find(arena_printf(a, "%s/table", dir), dir, "/a", &t, NULL), 0);
    return t;
}

static int begin(void **state)
{
    (void)memcpy(dir + sizeof(dir) - 7, "XXXXXX", 6);
    *state = mkdtemp(dir);
    return *state ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    return file_remove_tree(dir, NULL);
}

static void machines_are_told_apart(void **state)
{
    for (size_t i = 0; i < ARRAY_LEN(machines); i++) {
        AUTO(arena_done) struct arena a = {0};
        const struct machine *m = &machines[i];
        AUTO(cgroup_tree_free) struct cgroup_tree *t = tree_of(&a, m);
        AUTO(free) char *oom = cgroup_oom_file(t, "/a/b");

        assert_int_equal(cgroup_is_v2(t), m->v2);
        assert_int_equal(cgroup_is_hybrid(t), m->hybrid);
        assert_int_equal(cgroup_limits(t, "memory"), m->memory);
        assert_int_equal(cgroup_limits(t, "pids"), m->pids);
        assert_string_equal(oom, arena_printf(&a, "%s/%s", dir, m->oom_file));
        assert_int_equal(end(state), 0);
        assert_int_equal(begin(state), 0);
    }
}

static void limits_of_v2_are_handed_down_all_the_way(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct ctr_limits l = {1024, 150000, 100000, 1 << 20, 500};
    struct cgroup_tree *t = tree_of(&a, &machines[2]);

    (void)state;
    make_group(&a, ".");
    make_group(&a, "a");
    make_group(&a, "a/b");
    assert_int_equal(cgroup_fence(t, "/a/b", &l, NULL), 0);
    /* plain files keep the last word that was written over the ones before */
    assert_non_null(strstr(content_of(&a, "cgroup.subtree_control"), "+pids"));
    assert_non_null(strstr(content_of(&a, "a/cgroup.subtree_control"), "+pids"));
    assert_non_null(strstr(content_of(&a, "a/b/cgroup.subtree_control"), "+pids"));
    assert_string_equal(content_of(&a, "a/b/memory.max"), "1048576");
    assert_string_equal(content_of(&a, "a/b/cpu.max"), "150000 100000");
    assert_string_equal(content_of(&a, "a/b/pids.max"), "500");
    assert_string_equal(content_of(&a, "a/memory.max"), "");
    (void)cgroup_tree_free(t);
}

static void shims_live_in_a_group_without_others(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    AUTO(cgroup_tree_free) struct cgroup_tree *t = tree_of(&a, &machines[2]);
    const char *const *procs = cgroup_shim_procs(t);
    struct stat st;

    (void)state;
    assert_string_equal(procs[0], arena_printf(&a, "%s/a/shims/cgroup.procs", dir));
    assert_null(procs[1]);
    assert_int_equal(stat(arena_printf(&a, "%s/a/shims", dir), &st), 0);
}

static void frozen_groups_are_thawed_from_the_innermost(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    AUTO(cgroup_tree_free) struct cgroup_tree *t = tree_of(&a, &machines[2]);

    (void)state;
    make_group(&a, "a/b/c");
    put(&a, "a/b/cgroup.freeze", "1");
    put(&a, "a/b/c/cgroup.freeze", "1");
    put(&a, "a/cgroup.freeze", "1");
    cgroup_thaw(t, "/a/b");
    assert_string_equal(content_of(&a, "a/b/c/cgroup.freeze"), "0");
    assert_string_equal(content_of(&a, "a/b/cgroup.freeze"), "0");
    assert_string_equal(content_of(&a, "a/cgroup.freeze"), "1");
}

static void a_machine_without_control_groups_is_told(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct cgroup_tree *t = NULL;
    struct err e = {0};

    (void)state;
    put(&a, "table", "20 1 0:5 / / rw - ext4 /dev/sda rw\n");
    assert_int_equal(cgroup_tree_find(arena_printf(&a, "%s/table", dir), dir, "/a", &t, &e),
                     -ENOENT);
    assert_non_null(strstr(e.text, "containers need them"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(machines_are_told_apart, begin, end),
        cmocka_unit_test_setup_teardown(limits_of_v2_are_handed_down_all_the_way, begin, end),
        cmocka_unit_test_setup_teardown(shims_live_in_a_group_without_others, begin, end),
        cmocka_unit_test_setup_teardown(frozen_groups_are_thawed_from_the_innermost, begin, end),
        cmocka_unit_test_setup_teardown(a_machine_without_control_groups_is_told, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
