/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of which cluster is meant, and of what verbs say when there is none. */
#include "src/cli/test/run.h"

#include "src/base/file.h"
#include "src/cli/manifests.h"
#include "src/cli/reach.h"

struct fixture {
    char dir[32];
    struct layout layout;
};

static int set_up(void **state)
{
    struct fixture *f = xcalloc(1, sizeof(*f));
    struct err e = {0};

    (void)snprintf(f->dir, sizeof(f->dir), "/tmp/sk-reach-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    assert_int_equal(layout_init(&f->layout, f->dir, &e), 0);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    layout_done(&f->layout);
    (void)!file_remove_tree(f->dir, NULL);
    free(f);
    return 0;
}

static void add_file(const struct fixture *f, const char *path, const char *text)
{
    AUTO(free) char *whole = xasprintf("%s/%s", f->dir, path);
    AUTO(free) char *dir = xstrdup(whole);
    struct err e = {0};

    *strrchr(dir, '/') = '\0';
    assert_int_equal(file_make_dirs(dir, 0755, &e), 0);
    assert_int_equal(file_write(whole, str_of(text), 0644, &e), 0);
}

static void controllers_are_listed_in_order(void **state)
{
    struct fixture *f = *state;
    AUTO(reach_clients_done) struct reach_clients none = {0};
    AUTO(reach_clients_done) struct reach_clients some = {0};

    reach_list(&f->layout, &none);
    assert_int_equal(none.n, 0);
    add_file(f, "clients/b/lab/slurm.conf", "");
    add_file(f, "clients/a/two/slurm.conf", "");
    add_file(f, "clients/a/one/slurm.conf", "");
    add_file(f, "clients/a/half-made/munge", "");
    add_file(f, "clients/a/.hidden/slurm.conf", "");
    reach_list(&f->layout, &some);
    assert_int_equal(some.n, 3);
    assert_string_equal(some.items[0].name, "one");
    assert_string_equal(some.items[1].name, "two");
    assert_string_equal(some.items[2].ns, "b");
    assert_true(ends_with(some.items[2].conf, "/clients/b/lab/slurm.conf"));
}

static void one_is_picked_by_what_tells_it_apart(void **state)
{
    static const struct {
        size_t n; /* of those below */
        const char *wish;
        int found; /* -1: none */
        const char *says;
    } cases[] = {
        {1, NULL, 0, NULL},
        {3, "one", 0, NULL},
        {3, "b/lab", 2, NULL},
        {3, "a/lab", 1, NULL},
        {3, "lab", -1, "there are several Controllers: name one of a/one, a/lab, b/lab"},
        {3, NULL, -1, "there are several Controllers: name one of a/one, a/lab, b/lab"},
        {2, "b/lab", -1, "there is no Controller 'b/lab': there is a/one, a/lab"},
        {1, "a", -1, "there is no Controller 'a': there is a/one"},
        {0, NULL, -1, "no Controller is declared yet, or none has started"},
        {0, "x", -1, "no Controller is declared yet, or none has started"},
    };
    char a[] = "a", b[] = "b", one[] = "one", lab[] = "lab", conf[] = "/c";
    struct reach_client items[] = {{a, one, conf}, {a, lab, conf}, {b, lab, conf}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct reach_clients c = {items, cases[i].n};
        struct err e = {0};
        const struct reach_client *got = reach_pick(&c, cases[i].wish, &e);

        assert_ptr_equal(got, cases[i].found < 0 ? NULL : &items[cases[i].found]);
        if (!got)
            assert_string_equal(e.text, cases[i].says);
    }
}

static void verbs_say_that_there_is_no_cluster(void **state)
{
    static const char *const verbs[] = {"status", "env"};
    struct fixture *f = *state;

    for (size_t i = 0; i < ARRAY_LEN(verbs); i++) {
        AUTO(free) char *line = xasprintf("%s --state %s/none", verbs[i], f->dir);
        AUTO(run_done) struct run r = run_of(line);

        assert_int_equal(r.status, 1);
        assert_string_equal(r.out, "");
        assert_non_null(strstr(r.err, "no cluster runs in '"));
        assert_non_null(strstr(r.err, "slurmkeeper up --state "));
    }
}

static void verbs_refuse_words_that_contradict(void **state)
{
    static const char *const cases[][2] = {
        {"backup", "slurmkeeper: backup: name the file to write, or - for standard output\n"},
        {"restore", "slurmkeeper: restore: name the backup file\n"},
        {"restore a b", "slurmkeeper: restore: name the backup file\n"},
        {"recover --adopt --give-up x",
         "slurmkeeper: recover: --adopt, --give-up and --accept-loss exclude each other\n"},
        {"recover --adopt",
         "slurmkeeper: recover: --adopt and --give-up take the names of pods, or --all\n"},
        {"recover x",
         "slurmkeeper: recover: --adopt and --give-up take the names of pods, or --all\n"},
        {"user add ann", "slurmkeeper: user add: give --role (admin, edit, slurm-edit, view or "
                         "cluster-admin) or --cluster-role\n"},
        {"serve --name Lab", "slurmkeeper: serve: --name: 'Lab' is not a name of at most 40 "
                             "lower-case letters, digits and dashes\n"},
        {"down --grace -1", "slurmkeeper: down: --grace: '-1' is not a number from 0 to 3600\n"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(run_done) struct run r = run_of(cases[i][0]);

        assert_string_equal(r.err, cases[i][1]);
        assert_string_equal(r.out, "");
        assert_int_equal(r.status, 2);
    }
}

static void a_failure_tells_root_no_more_than_it_is(void **state)
{
    struct fixture *f = *state;
    struct err e = {.num = -EACCES, .text = "cannot open 'x': Permission denied"};
    FILE *file;
    int old = run_divert(stderr, &file);
    int status = reach_failure("backup", &f->layout, &e);
    AUTO(free) char *said = run_restore(stderr, file, old);

    assert_int_equal(status, 1);
    assert_true(starts_with(said, "slurmkeeper: backup: cannot open 'x': Permission denied"));
    assert_int_equal(strstr(said, "run this as root") == NULL, geteuid() == 0);
}

static void manifests_keep_where_they_come_from(void **state)
{
    struct fixture *f = *state;
    AUTO(arena_done) struct arena a = {0};
    AUTO(free) char *dir = xasprintf("%s/m/", f->dir);
    struct manifests m = {.a = &a};
    struct err e = {0};

    add_file(f, "m/b.yaml", "kind: B\n---\nkind: C\n");
    add_file(f, "m/a.json", "{\"kind\":\"A\"}");
    add_file(f, "m/notes.txt", "not: {yaml");
    assert_int_equal(manifests_add(&m, dir, &e), 0);
    assert_int_equal(m.n, 3);
    assert_true(ends_with(m.docs[0].place, "/m/a.json"));
    assert_true(ends_with(m.docs[1].place, "/m/b.yaml, document 1"));
    assert_true(ends_with(m.docs[2].place, "/m/b.yaml, document 2"));
    assert_string_equal(jsn_get_str(m.docs[2].object, "kind"), "C");
    add_file(f, "m/c.yml", "kind: [");
    assert_int_equal(manifests_add(&m, dir, &e), -EINVAL);
    assert_non_null(strstr(e.text, "/m/c.yml: "));
    assert_int_equal(manifests_add(&m, "/nonexistent.yaml", &e), -ENOENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(controllers_are_listed_in_order, set_up, tear_down),
        cmocka_unit_test(one_is_picked_by_what_tells_it_apart),
        cmocka_unit_test_setup_teardown(verbs_say_that_there_is_no_cluster, set_up, tear_down),
        cmocka_unit_test(verbs_refuse_words_that_contradict),
        cmocka_unit_test_setup_teardown(a_failure_tells_root_no_more_than_it_is, set_up, tear_down),
        cmocka_unit_test_setup_teardown(manifests_keep_where_they_come_from, set_up, tear_down),
    };

    return cmocka_run_group_tests_name("reach", tests, NULL, NULL);
}
