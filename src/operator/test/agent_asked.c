/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of changes that were asked for and are still to be seen. */
#include "src/base/test/unit.h"

#include "src/base/str.h"
#include "src/operator/agent_asked.h"

struct fixture {
    struct loop *loop;
    struct asked *asked;
    int expired;
};

static void on_expired(void *arg, const char *node)
{
    struct fixture *f = arg;

    assert_string_equal(node, "a");
    f->expired++;
}

static void fixture_init(struct fixture *f)
{
    struct err e = {0};

    *f = (struct fixture){0};
    assert_int_equal(loop_new(&f->loop, &e), 0);
    f->asked = asked_new(f->loop, on_expired, f);
}

static void fixture_done(struct fixture *f)
{
    (void)asked_free(f->asked);
    (void)loop_free(f->loop);
}
DEFINE_AUTO_DONE(struct fixture, fixture_done);

static size_t count(struct fixture *f)
{
    size_t n;

    (void)asked_list(f->asked, &n);
    return n;
}

static void show(struct fixture *f, uint32_t state)
{
    struct slurm_node node = {.name = "a", .state = state};
    struct slurm_state s = {.nodes = &node, .n = 1};

    asked_compare(f->asked, &s);
}

static void a_change_is_remembered_until_the_state_shows_it(void **state)
{
    static const struct {
        const char *action;
        uint32_t before, after;
    } rows[] = {
        {"drain", NODE_BASE_IDLE, NODE_BASE_IDLE | NODE_FLAG_DRAIN},
        {"undrain", NODE_BASE_IDLE | NODE_FLAG_DRAIN, NODE_BASE_IDLE},
        {"undrain", NODE_BASE_DOWN | NODE_FLAG_DRAIN, NODE_BASE_DOWN},
        {"resume", NODE_BASE_DOWN, NODE_BASE_IDLE},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO(fixture_done) struct fixture f;

        fixture_init(&f);
        asked_put(f.asked, "a", rows[i].action);
        show(&f, rows[i].before);
        asked_answered(f.asked, "a", rows[i].action, false);
        show(&f, rows[i].before);
        assert_int_equal(count(&f), 1);
        show(&f, rows[i].after);
        assert_int_equal(count(&f), 0);
    }
}

static void a_deletion_shows_by_the_absence_of_the_node(void **state)
{
    AUTO(fixture_done) struct fixture f;
    struct slurm_state none = {0};

    (void)state;
    fixture_init(&f);
    asked_put(f.asked, "a", "delete");
    show(&f, NODE_BASE_DOWN);
    assert_int_equal(count(&f), 1);
    asked_compare(f.asked, &none);
    assert_int_equal(count(&f), 0);
}

static void a_failure_is_forgotten_at_once(void **state)
{
    AUTO(fixture_done) struct fixture f;

    (void)state;
    fixture_init(&f);
    asked_put(f.asked, "a", "drain");
    asked_answered(f.asked, "a", "undrain", true); /* of another one, which was replaced */
    assert_int_equal(count(&f), 1);
    asked_answered(f.asked, "a", "drain", true);
    assert_int_equal(count(&f), 0);
}

static void a_newer_change_replaces_an_older_one(void **state)
{
    AUTO(fixture_done) struct fixture f;
    const struct slurm_asked *list;
    size_t n;

    (void)state;
    fixture_init(&f);
    asked_put(f.asked, "a", "drain");
    asked_put(f.asked, "b", "drain");
    asked_put(f.asked, "a", "undrain");
    list = asked_list(f.asked, &n);
    assert_int_equal(n, 2);
    assert_string_equal(list[1].node, "a");
    assert_string_equal(list[1].action, "undrain");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_change_is_remembered_until_the_state_shows_it),
        cmocka_unit_test(a_deletion_shows_by_the_absence_of_the_node),
        cmocka_unit_test(a_failure_is_forgotten_at_once),
        cmocka_unit_test(a_newer_change_replaces_an_older_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
