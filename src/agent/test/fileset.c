/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of file sets and records. */
#include "src/base/test/unit.h"

#include <stdio.h>
#include <sys/stat.h>

#include "src/agent/record.h"
#include "src/base/alloc.h"
#include "src/base/file.h"

static void put(struct fileset *s, const char *name, const char *text)
{
    struct err e = {0};

    assert_int_equal(fileset_put(s, name, str_of(text), FILESET_MODE, &e), 0);
}

static void files_are_sorted_and_replaced(void **state)
{
    AUTO(fileset_done) struct fileset s = {0};

    (void)state;
    put(&s, "slurm.conf", "b");
    put(&s, "cgroup.conf", "a");
    put(&s, "slurm.conf", "ccc");
    assert_int_equal(s.n, 2);
    assert_int_equal(s.total_bytes, 4);
    assert_string_equal(s.files[0].name, "cgroup.conf");
    assert_string_equal(fileset_get(&s, "slurm.conf")->text, "ccc");
    assert_null(fileset_get(&s, "gres.conf"));
}

static void names_that_are_no_file_names_are_refused(void **state)
{
    static const char *const bad[] = {"", ".", "..", ".hidden", "a/b", "/etc/passwd", "a\nb"};
    AUTO(fileset_done) struct fileset s = {0};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct err e = {0};

        assert_int_equal(fileset_put(&s, bad[i], STR("x"), 0644, &e), -EINVAL);
        assert_true(e.text[0]);
    }
    assert_int_equal(s.n, 0);
}

static void too_much_is_refused(void **state)
{
    AUTO(fileset_done) struct fileset s = {0};
    AUTO(free) char *large = xcalloc(1, FILESET_MAX_BYTES);
    struct err e = {0};

    (void)state;
    assert_int_equal(fileset_put(&s, "a", (struct str){large, FILESET_MAX_BYTES}, 0644, &e), 0);
    assert_int_equal(fileset_put(&s, "b", STR("x"), 0644, &e), -EFBIG);
    /* replacing does not count twice */
    assert_int_equal(fileset_put(&s, "a", (struct str){large, FILESET_MAX_BYTES}, 0644, &e), 0);
}

static void the_hash_is_of_names_and_contents(void **state)
{
    AUTO(fileset_done) struct fileset a = {0};
    AUTO(fileset_done) struct fileset b = {0};
    char one[SHA256_HEX_LEN + 1];
    char two[SHA256_HEX_LEN + 1];
    struct err e = {0};

    (void)state;
    put(&a, "x", "12");
    put(&a, "y", "3");
    put(&b, "y", "3");
    assert_int_equal(fileset_put(&b, "x", STR("12"), 0755, &e), 0);
    fileset_hash(&a, one);
    fileset_hash(&b, two);
    assert_string_equal(one, two);
    assert_false(fileset_same(&a, &b));
    put(&b, "x", "1");
    put(&b, "y", "23");
    fileset_hash(&b, two);
    assert_string_not_equal(one, two);
}

static void the_hash_within_leaves_others_out(void **state)
{
    AUTO(fileset_done) struct fileset a = {0};
    AUTO(fileset_done) struct fileset more = {0};
    char one[SHA256_HEX_LEN + 1];
    char two[SHA256_HEX_LEN + 1];

    (void)state;
    put(&a, "slurm.conf", "x");
    put(&more, "slurm.conf", "x");
    put(&more, "notes.txt", "y");
    fileset_hash(&a, one);
    fileset_hash_within(&more, &a, two);
    assert_string_equal(one, two);
}

static void keys_are_told_apart(void **state)
{
    AUTO(fileset_done) struct fileset s = {0};
    AUTO(fileset_done) struct fileset keys = {0};

    (void)state;
    put(&s, "slurm.conf", "x");
    put(&s, "slurm.key", "k");
    put(&s, "jwt.key", "kk");
    put(&s, "slurm.jwks", "kkk");
    put(&s, "keyboard.conf", "y");
    fileset_split_keys(&s, &keys);
    assert_int_equal(s.n, 2);
    assert_int_equal(keys.n, 3);
    assert_int_equal(keys.total_bytes, 6);
    assert_int_equal(s.total_bytes, 2);
    assert_non_null(fileset_get(&keys, "jwt.key"));
}

static void pushes_are_decoded_or_told_what_is_wrong(void **state)
{
    static const struct {
        const char *text;
        const char *error; /* NULL: fine */
    } cases[] = {
        {"{\"files\":{\"slurm.conf\":\"a\",\"p.sh\":\"b\"},\"modes\":{\"p.sh\":493}}", NULL},
        {"{}", "files: is missing or not an object of texts"},
        {"{\"files\":{\"slurm.conf\":1}}", "files.slurm.conf: is not a text"},
        {"{\"files\":{\"../x\":\"\"}}", "'../x' is not the name of a configuration file"},
        {"{\"files\":{\"jwt.key\":\"\"}}",
         "files.jwt.key: keys come from Secrets and are not pushed"},
        {"{\"files\":{\"a\":\"\"},\"modes\":{\"a\":512}}",
         "modes.a: is not a file mode from 0 to 511"},
        {"{\"files\":{\"a\":\"\"},\"modes\":{\"a\":\"x\"}}",
         "modes.a: is not a file mode from 0 to 511"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        AUTO(fileset_done) struct fileset s = {0};
        struct jsn *v = NULL;
        struct err e = {0};
        int r;

        assert_int_equal(jsn_parse(&a, str_of(cases[i].text), NULL, &v, &e), 0);
        r = fileset_decode(v, &s, &e);
        assert_int_equal(r, cases[i].error ? -EINVAL : 0);
        if (cases[i].error)
            assert_string_equal(e.text, cases[i].error);
        else
            assert_int_equal(fileset_get(&s, "p.sh")->mode, 0755);
    }
}

static void a_directory_is_read_without_what_is_hidden(void **state)
{
    char dir[] = "/tmp/fileset-XXXXXX";
    AUTO(fileset_done) struct fileset s = {0};
    struct err e = {0};

    (void)state;
    assert_non_null(mkdtemp(dir));
    {
        AUTO(free) char *data = xasprintf("%s/..data", dir);
        AUTO(free) char *real = xasprintf("%s/..data/slurm.conf", dir);
        AUTO(free) char *name = xasprintf("%s/slurm.conf", dir);
        AUTO(free) char *dangling = xasprintf("%s/gone", dir);
        AUTO(free) char *sub = xasprintf("%s/sub", dir);

        assert_int_equal(mkdir(data, 0755), 0);
        assert_int_equal(mkdir(sub, 0755), 0);
        assert_int_equal(file_write(real, STR("text"), 0640, &e), 0);
        assert_int_equal(symlink("..data/slurm.conf", name), 0);
        assert_int_equal(symlink("nowhere", dangling), 0);
    }
    assert_int_equal(fileset_read(dir, &s, &e), 0);
    assert_int_equal(s.n, 1);
    assert_string_equal(s.files[0].text, "text");
    assert_int_equal(s.files[0].mode, 0640);
    assert_int_equal(s.files[0].uid, getuid());
    assert_int_equal(file_remove_tree(dir, &e), 0);
    fileset_done(&s);
    assert_int_equal(fileset_read(dir, &s, &e), -ENOENT);
}

static struct record *a_record(void)
{
    struct record *r = record_new();

    put(&r->files, "slurm.conf", "ClusterName=x\nPartitionName=DEFAULT MaxTime=5\n");
    put(&r->files, "prolog.sh", "#!/bin/sh\n");
    r->files.files[0].mode = 0755;
    fileset_hash(&r->files, r->hash);
    r->generation = 12;
    r->declared = xstrdup("sha256:abc");
    r->revert = true;
    r->attempts = 2;
    record_keep(r, "old", "NodeSet=s Feature=s\nPartitionName=old Nodes=s State=DRAIN\n");
    return r;
}

static void a_record_comes_back_from_its_text(void **state)
{
    AUTO(record_free) struct record *r = a_record();
    AUTO(record_free) struct record *back = NULL;
    AUTO(buf_done) struct buf text = {0};
    struct err e = {0};

    (void)state;
    record_set_aside(r, "gpu", "PartitionName=gpu\n", "PartitionName=gpu QOS=x", "Invalid qos");
    record_print(r, &text);
    assert_int_equal(record_parse(buf_view(&text), &back, &e), 0);
    assert_true(fileset_same(&r->files, &back->files));
    assert_int_equal(back->n_kept, r->n_kept);
    assert_string_equal(back->kept[0].partition, r->kept[0].partition);
    assert_string_equal(back->kept[0].lines, r->kept[0].lines);
    assert_string_equal(record_aside_find(back, "gpu")->lines, "PartitionName=gpu\n");
    assert_string_equal(record_aside_find(back, "gpu")->asked, "PartitionName=gpu QOS=x");
    assert_string_equal(record_aside_find(back, "gpu")->why, "Invalid qos");
    assert_string_equal(back->hash, r->hash);
    assert_string_equal(back->declared, "sha256:abc");
    assert_int_equal(back->generation, 12);
    assert_int_equal(back->attempts, 2);
    assert_true(back->revert);
}

static void a_damaged_record_is_not_believed(void **state)
{
    AUTO(record_free) struct record *r = a_record();
    AUTO(buf_done) struct buf text = {0};

    (void)state;
    record_print(r, &text);
    for (size_t n = 0; n < text.n; n++) {
        AUTO(record_free) struct record *back = NULL;
        struct err e = {0};

        assert_true(record_parse((struct str){text.p, n}, &back, &e) < 0);
        assert_true(e.text[0]);
    }
    text.p[text.n - 3] ^= 1;
    {
        AUTO(record_free) struct record *back = NULL;
        struct err e = {0};

        assert_int_equal(record_parse(buf_view(&text), &back, &e), -EBADMSG);
    }
}

static void what_is_kept_stands_before_everything_else(void **state)
{
    AUTO(record_free) struct record *r = a_record();
    AUTO(fileset_done) struct fileset files = {0};
    struct err e = {0};

    (void)state;
    record_keep(r, "older", "NodeSet=s Feature=s\nPartitionName=older Nodes=s\n");
    assert_int_equal(record_effective(r, &files, &e), 0);
    assert_string_equal(fileset_get(&files, "slurm.conf")->text,
                        "# Kept by slurmkeeper until the jobs of these partitions have ended.\n"
                        "NodeSet=s Feature=s\n"
                        "PartitionName=old Nodes=s State=DRAIN\n"
                        "PartitionName=older Nodes=s\n"
                        "ClusterName=x\nPartitionName=DEFAULT MaxTime=5\n");
    record_unkeep(r, "old");
    record_unkeep(r, "older");
    record_unkeep(r, "never");
    fileset_done(&files);
    assert_int_equal(record_effective(r, &files, &e), 0);
    assert_true(fileset_same(&files, &r->files));
}

static void what_is_set_aside_is_a_comment_and_has_its_former_line(void **state)
{
    AUTO(record_free) struct record *r = record_new();
    AUTO(fileset_done) struct fileset files = {0};
    struct err e = {0};

    (void)state;
    assert_int_equal(fileset_put(&r->files, "slurm.conf",
                                 STR("Include more.conf\nPartitionName=DEFAULT MaxTime=5\n"
                                     "  partitionname = \"a\" Nodes=n1\\\n  QOS=x\n"
                                     "PartitionName=ab Nodes=n2\n# PartitionName=a\n"),
                                 0644, &e),
                     0);
    assert_int_equal(fileset_put(&r->files, "more.conf", STR("PartitionName=b QOS=x"), 0644, &e),
                     0);
    assert_int_equal(fileset_put(&r->files, "prolog.sh", STR("PartitionName=b"), 0755, &e), 0);
    record_set_aside(r, "a", "PartitionName=a Nodes=n1\n", "PartitionName=a QOS=x", "no");
    record_set_aside(r, "b", "", "PartitionName=b QOS=x", "no");
    assert_int_equal(record_effective(r, &files, &e), 0);
    assert_string_equal(fileset_get(&files, "slurm.conf")->text,
                        "# slurmctld refuses these as declared: they are as they were before.\n"
                        "PartitionName=a Nodes=n1\n"
                        "Include more.conf\nPartitionName=DEFAULT MaxTime=5\n"
                        "# slurmctld refuses it:   partitionname = \"a\" Nodes=n1\\\n"
                        "# slurmctld refuses it:   QOS=x\n"
                        "PartitionName=ab Nodes=n2\n# PartitionName=a\n");
    assert_string_equal(fileset_get(&files, "more.conf")->text,
                        "# slurmctld refuses it: PartitionName=b QOS=x\n");
    assert_string_equal(fileset_get(&files, "prolog.sh")->text, "PartitionName=b");
}

static void setting_aside_again_replaces(void **state)
{
    AUTO(record_free) struct record *r = a_record();
    AUTO(record_free) struct record *copy = NULL;

    (void)state;
    record_set_aside(r, "a", "", "one", "no");
    record_set_aside(r, "a", "", "two", "never");
    copy = record_copy(r);
    record_take_back(r, "a");
    assert_null(record_aside_find(r, "a"));
    assert_int_equal(copy->n_aside, 1);
    assert_string_equal(record_aside_find(copy, "a")->why, "never");
}

static void keeping_again_replaces(void **state)
{
    AUTO(record_free) struct record *r = a_record();
    AUTO(record_free) struct record *copy = record_copy(r);

    (void)state;
    record_keep(r, "old", "PartitionName=old\n");
    assert_int_equal(r->n_kept, 1);
    assert_string_equal(record_kept_find(r, "old")->lines, "PartitionName=old\n");
    assert_null(record_kept_find(r, "new"));
    assert_true(starts_with(copy->kept[0].lines, "NodeSet=s"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_sorted_and_replaced),
        cmocka_unit_test(names_that_are_no_file_names_are_refused),
        cmocka_unit_test(too_much_is_refused),
        cmocka_unit_test(the_hash_is_of_names_and_contents),
        cmocka_unit_test(the_hash_within_leaves_others_out),
        cmocka_unit_test(keys_are_told_apart),
        cmocka_unit_test(pushes_are_decoded_or_told_what_is_wrong),
        cmocka_unit_test(a_directory_is_read_without_what_is_hidden),
        cmocka_unit_test(a_record_comes_back_from_its_text),
        cmocka_unit_test(a_damaged_record_is_not_believed),
        cmocka_unit_test(what_is_kept_stands_before_everything_else),
        cmocka_unit_test(keeping_again_replaces),
        cmocka_unit_test(what_is_set_aside_is_a_comment_and_has_its_former_line),
        cmocka_unit_test(setting_aside_again_replaces),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
