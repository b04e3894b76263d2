/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of the names of clusters. */
#include "src/base/test/unit.h"

#include <sys/stat.h>

#include "src/base/alloc.h"
#include "src/base/file.h"
#include "src/base/name_claim.h"

struct place {
    char top[32];
    char *run;
    char *a;
    char *b;
};

static void make(struct place *p)
{
    (void)snprintf(p->top, sizeof(p->top), "/tmp/sk-name-XXXXXX");
    assert_non_null(mkdtemp(p->top));
    p->run = xasprintf("%s/run", p->top);
    p->a = xasprintf("%s/a", p->top);
    p->b = xasprintf("%s/b", p->top);
    assert_int_equal(mkdir(p->a, 0700), 0);
    assert_int_equal(mkdir(p->b, 0700), 0);
}

static void done(struct place *p)
{
    assert_int_equal(file_remove_tree(p->top, NULL), 0);
    free(p->run);
    free(p->a);
    free(p->b);
}

static void a_name_has_one_state_directory(void **state)
{
    struct place p;
    struct err e = {0};

    (void)state;
    make(&p);
    assert_int_equal(name_claim_take(p.run, "x", p.a, &e), 0);
    assert_int_equal(name_claim_take(p.run, "x", p.a, &e), 0);
    assert_int_equal(name_claim_take(p.run, "x", p.b, &e), -EBUSY);
    assert_non_null(strstr(e.text, p.a));
    assert_int_equal(name_claim_take(p.run, "y", p.b, &e), 0);
    assert_true(name_claim_is_anothers(p.run, "x", p.b));
    assert_false(name_claim_is_anothers(p.run, "x", p.a));
    done(&p);
}

static void only_the_holder_gives_a_name_back(void **state)
{
    struct place p;
    struct err e = {0};

    (void)state;
    make(&p);
    assert_int_equal(name_claim_take(p.run, "x", p.a, &e), 0);
    name_claim_release(p.run, "x", p.b);
    assert_int_equal(name_claim_take(p.run, "x", p.b, &e), -EBUSY);
    name_claim_release(p.run, "x", p.a);
    assert_int_equal(name_claim_take(p.run, "x", p.b, &e), 0);
    done(&p);
}

static void the_name_of_a_removed_directory_is_free(void **state)
{
    struct place p;
    struct err e = {0};

    (void)state;
    make(&p);
    assert_int_equal(name_claim_take(p.run, "x", p.a, &e), 0);
    assert_int_equal(file_remove_tree(p.a, NULL), 0);
    assert_int_equal(name_claim_take(p.run, "x", p.b, &e), 0);
    done(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_has_one_state_directory),
        cmocka_unit_test(only_the_holder_gives_a_name_back),
        cmocka_unit_test(the_name_of_a_removed_directory_is_free),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
