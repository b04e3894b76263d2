/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of what is remembered of Controllers. */
#include "src/base/test/unit.h"

#include "src/http/cert.h"
#include "src/operator/memos.h"

static void each_controller_has_one(void **state)
{
    struct memos m = {0};
    struct config_memo *first;

    (void)state;
    first = memos_get(&m, "a", "slurm");
    assert_ptr_equal(memos_get(&m, "a", "slurm"), first);
    assert_ptr_not_equal(memos_get(&m, "b", "slurm"), first);
    assert_ptr_not_equal(memos_get(&m, "a", "other"), first);
    memos_drop(&m, "a", "slurm");
    memos_drop(&m, "a", "slurm");
    assert_int_equal(m.by_controller.n, 2);
    (void)memos_get(&m, "a", "slurm");
    assert_int_equal(m.by_controller.n, 3);
    memos_done(&m);
    memos_done(&m);
}

/* Reading a certificate takes longer than planning for a small cluster. */
static void a_good_certificate_is_not_read_all_the_time(void **state)
{
    AUTO(cert_pair_done) struct cert_pair pair = {0};
    AUTO(cert_pair_done) struct cert_pair other = {0};
    struct memos m = {0};
    struct err e = {0};

    (void)state;
    assert_int_equal(cert_make_own("a", &pair, &e), 0);
    assert_int_equal(cert_make_own("b", &other, &e), 0);
    assert_false(memos_cert_good(&m, "a", "slurm", "nonsense", 1000));
    assert_false(memos_cert_good(&m, "a", "slurm", "nonsense", 1000));
    assert_true(memos_cert_good(&m, "a", "slurm", pair.cert_pem, 1000));
    assert_int_equal(m.certs.n, 1);
    assert_true(memos_cert_good(&m, "a", "slurm", pair.cert_pem, 60999));
    assert_true(memos_cert_good(&m, "a", "slurm", other.cert_pem, 60999));
    assert_false(memos_cert_good(&m, "a", "slurm", "nonsense", 61000));
    memos_drop(&m, "a", "slurm");
    assert_int_equal(m.certs.n, 0);
    memos_done(&m);
}

static void lines_that_are_written_are_read_once_for_each_version(void **state)
{
    struct kube_object map = {
        .namespace = "a",
        .version = "1",
        .text = STR("{\"data\":{\"slurm.conf\":\"A=1\\nPartitionName=p Nodes=x\\n"
                    "PartitionName=q\\nPartitionName=p Nodes=z\\n\"}}"),
    };
    struct memos m = {0};

    (void)state;
    assert_null(memos_written(&m, "slurm", NULL, "p"));
    assert_string_equal(memos_written(&m, "slurm", &map, "p"), "PartitionName=p Nodes=x");
    assert_string_equal(memos_written(&m, "slurm", &map, "q"), "PartitionName=q");
    assert_null(memos_written(&m, "slurm", &map, "r"));
    map.text = STR("{\"data\":{\"slurm.conf\":\"PartitionName=p Nodes=y\\n\"}}");
    assert_string_equal(memos_written(&m, "slurm", &map, "p"), "PartitionName=p Nodes=x");
    map.version = "2";
    assert_string_equal(memos_written(&m, "slurm", &map, "p"), "PartitionName=p Nodes=y");
    assert_null(memos_written(&m, "slurm", &map, "q"));
    map.text = STR("{}");
    map.version = "3";
    assert_null(memos_written(&m, "slurm", &map, "p"));
    memos_drop(&m, "a", "slurm");
    assert_int_equal(m.written.n, 0);
    memos_done(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_controller_has_one),
        cmocka_unit_test(lines_that_are_written_are_read_once_for_each_version),
        cmocka_unit_test(a_good_certificate_is_not_read_all_the_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
