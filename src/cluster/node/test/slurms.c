/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of which of the machine's Slurms a pod runs. */
#include "src/cluster/node/test/parse.h"

#include "src/base/file.h"
#include "src/cluster/node/runtime/slurms.h"

static void a_pod_runs_the_slurm_that_its_annotation_names(void **state)
{
    static const char list[] = "24.11.5 /usr\n26.05.3 /opt/a\n26.05.5 /opt/slurm 26\n"
                               "25.11.1 relative\nnonsense\n";
    static const struct {
        const char *annotation; /* NULL: none */
        const char *list;       /* NULL: there is no file */
        const char *prefix;     /* NULL: it is refused */
    } rows[] = {
        {NULL, list, "/usual"},
        {NULL, NULL, "/usual"},
        {"24.11.5", list, "/usr"},
        {"24.11.7", list, "/usr"}, /* of its series */
        {"24.11", list, "/usr"},
        {"26.05.3", list, "/opt/a"},
        {"26.05.5", list, "/opt/slurm 26"},
        {"26.05", list, "/opt/slurm 26"},
        {"25.11.1", list, NULL},
        {"25.05", list, NULL},
        {"26.0", list, NULL},
        {"", list, NULL},
        {"/opt/a", list, NULL},
        {"24.11.5", NULL, NULL},
    };
    char dir[] = "/tmp/sk-slurms-XXXXXX";

    (void)state;
    assert_non_null(mkdtemp(dir));
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct jsn *annotations = jsn_object(&a);
        struct jsn *json = jsn_object(&a);
        struct pod_spec pod = {.json = json};
        const char *path = arena_printf(&a, "%s/slurms", dir);
        const char *prefix = NULL;
        struct err e = {0};
        int r;

        if (rows[i].annotation)
            jsn_set_str(&a, annotations, "slurmkeeper.dev/slurm-version", rows[i].annotation);
        jsn_set_path(&a, json, "metadata.annotations", annotations);
        if (rows[i].list)
            assert_int_equal(file_write(path, str_of(rows[i].list), 0644, &e), 0);
        else
            (void)unlink(path);
        r = slurms_choose(&a, dir, &pod, "/usual", &prefix, &e);
        assert_int_equal(r, rows[i].prefix ? 0 : -ENOENT);
        if (rows[i].prefix)
            assert_string_equal(prefix, rows[i].prefix);
        else
            assert_non_null(strstr(e.text, "'slurmkeeper up --slurm PREFIX' names one"));
    }
    assert_int_equal(file_remove_tree(dir, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pod_runs_the_slurm_that_its_annotation_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
