/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of verbs that print: render, env, completion, the manual. */
#include "src/cli/test/run.h"

#include "src/base/file.h"
#include "src/local/layout.h"

static void every_example_renders(void **state)
{
    static const char *const files[] = {"quickstart", "partition", "extraconf-partitions",
                                        "gpu-nodes",  "images",    "restapi",
                                        "accounting"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        AUTO(free)
        char *line = xasprintf("render -f " SOURCE_ROOT "/examples/%s.yaml", files[i]);
        AUTO(run_done) struct run r = run_of(line);

        assert_int_equal(r.status, 0);
        assert_non_null(strstr(r.out, "slurm.conf -----\n"));
    }
}

static void one_partition_of_the_example_is_the_default(void **state)
{
    AUTO(run_done) struct run r = run_of("render -f " SOURCE_ROOT "/examples/partition.yaml");
    const char *found = strstr(r.out, "Default=YES");

    (void)state;
    assert_non_null(found);
    assert_null(strstr(found + 1, "Default=YES"));
    assert_string_equal(r.err, "");
}

static void what_is_wrong_has_its_file_and_field(void **state)
{
    static const struct {
        const char *text;
        const char *says; /* after the file */
    } cases[] = {
        {"kind: NodeSet\napiVersion: slinky.slurm.net/v1beta1\nmetadata: {name: c}\nspec: "
         "{controllerRef: {name: x}, replicas: -1, bogus: 1}\n",
         ": NodeSet default/c: spec.replicas: -1 is below 0\n"},
        {"kind: NodeSet\napiVersion: slinky.slurm.net/v1beta1\nmetadata: {name: c}\nspec: "
         "{controllerRef: {name: x}}\n",
         ": NodeSet default/c: spec.controllerRef.name: "},
        {"a: 1\n---\nkind: [", ": yaml: line "},
    };
    char path[] = "/tmp/sk-render-XXXXXX.yaml";
    int fd = mkstemps(path, 5);
    AUTO(free) char *line = xasprintf("render -f %s", path);

    (void)state;
    assert_true(fd >= 0);
    (void)close(fd);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(free) char *says = xasprintf("%s%s", path, cases[i].says);
        struct err e = {0};

        assert_int_equal(file_write(path, str_of(cases[i].text), 0600, &e), 0);
        {
            AUTO(run_done) struct run r = run_of(line);

            assert_int_equal(r.status, 1);
            assert_string_equal(r.out, "");
            if (!strstr(r.err, says))
                fail_msg("'%s' is not in '%s'", says, r.err);
        }
    }
    (void)unlink(path);
}

static void env_prints_exports_that_a_shell_reads_back(void **state)
{
    char dir[] = "/tmp/sk-env-XXXXXX";
    AUTO(free) char *place = NULL;
    AUTO(free) char *clients = NULL;
    AUTO(free) char *conf = NULL;
    AUTO(free) char *line = NULL;
    AUTO(layout_done) struct layout l = {0};
    AUTO(close) int lock = -1;
    struct err e = {0};

    (void)state;
    assert_non_null(mkdtemp(dir));
    place = xasprintf("%s/it's", dir);
    assert_int_equal(layout_init(&l, place, &e), 0);
    assert_int_equal(layout_make(&l, &e), 0);
    assert_int_equal(layout_lock(&l, &lock, &e), 0);
    clients = xasprintf("%s/default/slurm", l.clients);
    conf = xasprintf("%s/slurm.conf", clients);
    assert_int_equal(file_make_dirs(clients, 0755, &e), 0);
    assert_int_equal(file_write(conf, STR(""), 0644, &e), 0);
    assert_int_equal(file_write(l.kubeconfig, STR(""), 0600, &e), 0);
    line = xasprintf("env --state %s", place);
    {
        AUTO(run_done) struct run r = run_of(line);
        AUTO(free)
        char *expected = xasprintf("export KUBECONFIG='%s/it'\\''s/admin.kubeconfig'\n"
                                   "export SLURM_CONF='%s/it'\\''s/clients/default/slurm/"
                                   "slurm.conf'\n",
                                   dir, dir);

        assert_int_equal(r.status, 0);
        assert_string_equal(r.out, expected);
        assert_string_equal(r.err, "");
    }
    assert_int_equal(file_remove_tree(dir, &e), 0);
}

static void completion_and_manual_know_every_verb(void **state)
{
    static const char *const lines[] = {"completion", "manual"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        AUTO(run_done) struct run r = run_of(lines[i]);

        assert_int_equal(r.status, 0);
        for (const struct cli_verb *v = cli_verbs; v->name; v++)
            assert_non_null(strstr(r.out, v->name));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_example_renders),
        cmocka_unit_test(one_partition_of_the_example_is_the_default),
        cmocka_unit_test(what_is_wrong_has_its_file_and_field),
        cmocka_unit_test(env_prints_exports_that_a_shell_reads_back),
        cmocka_unit_test(completion_and_manual_know_every_verb),
    };

    return cmocka_run_group_tests_name("render", tests, NULL, NULL);
}
