/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of work sets. */
#include "src/base/test/unit.h"

#include "src/base/buf.h"
#include "src/cluster/apiserver/workset.h"

struct fixture {
    struct loop *loop;
    struct workset work;
    struct buf seen;
};

static void look(void *arg, const char *key)
{
    struct fixture *f = arg;

    buf_printf(&f->seen, "%s;", key);
    if (streq(key, "again") && f->seen.n < 12)
        workset_add(&f->work, key);
}

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));

    if (!f || loop_new(&f->loop, NULL) < 0)
        return -1;
    workset_init(&f->work, f->loop, 2, look, f);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    workset_done(&f->work);
    (void)loop_free(f->loop);
    buf_done(&f->seen);
    free(f);
    return 0;
}

static void turns(struct fixture *f, int n)
{
    while (n-- > 0)
        (void)loop_turn(f->loop, 20);
}

static void a_key_waits_once_and_in_order(void **state)
{
    struct fixture *f = *state;

    workset_add(&f->work, "b");
    workset_add(&f->work, "a");
    workset_add(&f->work, "b");
    workset_add(&f->work, "c");
    turns(f, 1);
    assert_string_equal(buf_str(&f->seen), "b;a;");
    turns(f, 2);
    assert_string_equal(buf_str(&f->seen), "b;a;c;");
}

static void a_key_may_add_itself_again(void **state)
{
    struct fixture *f = *state;

    workset_add(&f->work, "again");
    turns(f, 5);
    assert_string_equal(buf_str(&f->seen), "again;again;");
}

static void a_later_key_waits_and_a_sooner_add_hastens_it(void **state)
{
    struct fixture *f = *state;

    workset_add_later(&f->work, "later", 60000);
    turns(f, 2);
    assert_string_equal(buf_str(&f->seen), "");
    workset_add(&f->work, "later");
    turns(f, 2);
    assert_string_equal(buf_str(&f->seen), "later;");
    workset_add_later(&f->work, "soon", 10);
    turns(f, 3);
    assert_string_equal(buf_str(&f->seen), "later;soon;");
}

static void a_key_for_soon_does_not_wait_for_one_for_later(void **state)
{
    struct fixture *f = *state;

    workset_add_later(&f->work, "late", 60000);
    workset_add_later(&f->work, "soon", 10);
    turns(f, 3);
    assert_string_equal(buf_str(&f->seen), "soon;");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_key_waits_once_and_in_order, setup, teardown),
        cmocka_unit_test_setup_teardown(a_key_may_add_itself_again, setup, teardown),
        cmocka_unit_test_setup_teardown(a_later_key_waits_and_a_sooner_add_hastens_it, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_key_for_soon_does_not_wait_for_one_for_later, setup,
                                        teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
