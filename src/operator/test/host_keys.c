/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of host keys in the making: once each, told by the queue, given up at any moment. */
#include "src/base/test/unit.h"

#include "src/operator/host_keys.h"

#define KEY "LoginSet/slurm/login"

struct fixture {
    struct loop *loop;
    struct queue *queue;
    struct host_keys keys;
};

static void fixture_init(struct fixture *f)
{
    struct err e = {0};

    *f = (struct fixture){.queue = queue_new(100, 800)};
    assert_int_equal(loop_new(&f->loop, &e), 0);
    host_keys_init(&f->keys, f->loop, f->queue);
}

static void fixture_done(struct fixture *f)
{
    host_keys_done(&f->keys);
    f->queue = queue_free(f->queue);
    f->loop = loop_free(f->loop);
}
DEFINE_AUTO_DONE(struct fixture, fixture_done);

static void keys_are_made_once_and_the_queue_tells(void **state)
{
    AUTO(fixture_done) struct fixture f;
    const struct build_host_keys *keys;

    (void)state;
    fixture_init(&f);
    assert_null(host_keys_get(&f.keys, KEY));
    assert_null(host_keys_get(&f.keys, KEY));
    for (int i = 0; i < 3000 && queue_waiting(f.queue) == 0; i++)
        assert_true(loop_turn(f.loop, 100) >= 0);
    assert_string_equal(queue_take(f.queue, 0), KEY);
    keys = host_keys_get(&f.keys, KEY);
    assert_non_null(keys);
    assert_ptr_equal(host_keys_get(&f.keys, KEY), keys);
    for (size_t i = 0; i < LOGIN_KEY_FILES; i++)
        assert_true(starts_with(keys->texts[i], i % 2 ? i == 1   ? "ecdsa-sha2-nistp256 "
                                                        : i == 3 ? "ssh-ed25519 "
                                                                 : "ssh-rsa "
                                                      : "-----BEGIN OPENSSH"));
    host_keys_drop(&f.keys, KEY);
    host_keys_drop(&f.keys, KEY);
}

static void what_is_being_made_is_given_up(void **state)
{
    AUTO(fixture_done) struct fixture f;

    (void)state;
    fixture_init(&f);
    assert_null(host_keys_get(&f.keys, KEY));
    assert_null(host_keys_get(&f.keys, "LoginSet/slurm/other"));
    host_keys_drop(&f.keys, KEY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_are_made_once_and_the_queue_tells),
        cmocka_unit_test(what_is_being_made_is_given_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
