/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of the index of names in Slurm. */
#include "src/base/test/unit.h"

#include "src/admission/name_index.h"

static void put(struct name_index *x, const char *kind, const char *ns, const char *text)
{
    AUTO(arena_done) struct arena a = {0};
    struct jsn *v = NULL;
    struct err e = {0};

    assert_int_equal(jsn_parse(&a, str_of(text), NULL, &v, &e), 0);
    name_index_put(x, kind, ns, v);
}

static bool note(void *arg, const char *object)
{
    struct buf *b = arg;

    buf_printf(b, "%s%s", b->n ? " " : "", object);
    return true;
}

static void assert_holders(const struct name_index *x, const char *kind, const char *ns,
                           const char *name, const char *want)
{
    AUTO(buf_done) struct buf b = {0};

    name_index_each(x, kind, ns, name, note, &b);
    assert_string_equal(buf_str(&b), want);
}

#define NODESET(name, spec)                                                                        \
    "{\"metadata\":{\"name\":\"" name "\"},\"spec\":{\"controllerRef\":{\"name\":\"c\"}" spec "}}"
#define HOST(name) ",\"template\":{\"spec\":{\"hostname\":\"" name "\"}}"
#define PARTITION(name, spec) NODESET(name, spec)

static void objects_are_found_by_their_name_in_slurm(void **state)
{
    AUTO(name_index_done) struct name_index x = {0};

    (void)state;
    name_index_init(&x);
    put(&x, "NodeSet", "n", NODESET("a", ""));
    put(&x, "NodeSet", "n", NODESET("b", HOST("gpu-")));
    put(&x, "NodeSet", "other", NODESET("c", HOST("gpu")));
    put(&x, "Partition", "n", PARTITION("d", ""));
    put(&x, "Partition", "n", PARTITION("e", ",\"partitionName\":\"gpu\""));
    assert_holders(&x, "NodeSet", "n", "a", "a");
    assert_holders(&x, "NodeSet", "n", "b", "");
    assert_holders(&x, "NodeSet", "n", "gpu", "b");
    assert_holders(&x, "NodeSet", "other", "gpu", "c");
    assert_holders(&x, "Partition", "n", "d", "d");
    assert_holders(&x, "Partition", "n", "gpu", "e");
    assert_holders(&x, "Partition", "n", "none", "");
}

static void names_follow_changes(void **state)
{
    AUTO(name_index_done) struct name_index x = {0};

    (void)state;
    name_index_init(&x);
    put(&x, "NodeSet", "n", NODESET("a", HOST("x")));
    put(&x, "NodeSet", "n", NODESET("b", HOST("x")));
    assert_holders(&x, "NodeSet", "n", "x", "a b");
    put(&x, "NodeSet", "n", NODESET("a", HOST("y")));
    assert_holders(&x, "NodeSet", "n", "x", "b");
    assert_holders(&x, "NodeSet", "n", "y", "a");
    name_index_drop(&x, "NodeSet", "n", "a");
    name_index_drop(&x, "NodeSet", "n", "a");
    assert_holders(&x, "NodeSet", "n", "y", "");
    put(&x, "NodeSet", "n", "{\"metadata\":{\"name\":\"b\"},\"spec\":7}"); /* it has no name now */
    assert_holders(&x, "NodeSet", "n", "x", "");
    name_index_drop(&x, "NodeSet", "n", "b");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(objects_are_found_by_their_name_in_slurm),
        cmocka_unit_test(names_follow_changes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
