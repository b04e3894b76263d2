/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of what is on disk of a pod: a node that was killed goes on from it. */
#include "src/base/test/unit.h"

#include <sys/stat.h>

#include "src/base/alloc.h"
#include "src/base/clock.h"
#include "src/base/file.h"
#include "src/cluster/node/pods/worker_state.h"

#define POD(meta, spec)                                                                            \
    "{\"metadata\":{\"name\":\"p\",\"namespace\":\"ns\",\"uid\":\"u-1\"" meta                      \
    "},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"" spec                                \
    "\"}],\"activeDeadlineSeconds\":60},\"status\":{\"phase\":\"Running\"}}"

struct fixture {
    char dir[32];
    struct worker worker;
};

static void fixture_init(struct fixture *f)
{
    *f = (struct fixture){.dir = "/tmp/sk-worker-XXXXXX"};
    assert_non_null(mkdtemp(f->dir));
    f->worker.dir = f->dir;
}

/* The node is killed, and another one starts. */
static void forget(struct fixture *f)
{
    arena_done(&f->worker.arena);
    arena_done(&f->worker.object_arena);
    free(f->worker.reason);
    free(f->worker.message);
    f->worker = (struct worker){.dir = f->dir};
}

static void fixture_done(struct fixture *f)
{
    struct err e = {0};

    forget(f);
    assert_int_equal(file_remove_tree(f->dir, &e), 0);
}
DEFINE_AUTO_DONE(struct fixture, fixture_done);

static void save_object(struct fixture *f, const char *text)
{
    struct err e = {0};

    assert_int_equal(worker_state_save_object(&f->worker, str_of(text), &e), 0);
}

static void write_state(struct fixture *f, const char *text)
{
    AUTO(free) char *path = xasprintf("%s/state.json", f->dir);
    struct err e = {0};

    assert_int_equal(file_write(path, str_of(text), 0600, &e), 0);
}

static void load(struct fixture *f)
{
    struct err e = {0};

    if (worker_state_load(&f->worker, &e) < 0)
        fail_msg("%s", e.text);
}

static void what_was_decided_is_there_again(void **state)
{
    AUTO(fixture_done) struct fixture f;
    struct worker *w = &f.worker;

    (void)state;
    fixture_init(&f);
    save_object(&f, POD("", "one"));
    load(&f);
    assert_false(w->initialized);
    w->initialized = true;
    w->unknown = true;
    w->outcome = POD_FAILED;
    w->reason = xstrdup("Evicted");
    w->message = xstrdup("no room");
    w->start_us = INT64_C(1767225600) * 1000000;
    worker_state_save(w);
    forget(&f);
    load(&f);
    assert_true(w->initialized && w->unknown);
    assert_int_equal(w->outcome, POD_FAILED);
    assert_string_equal(w->reason, "Evicted");
    assert_string_equal(w->message, "no room");
    assert_int_equal(w->start_us, INT64_C(1767225600) * 1000000);
}

/* A power cut may leave it empty; what runs does not depend on it. */
static void without_its_state_a_pod_starts_from_the_beginning(void **state)
{
    static const char *const bad[] = {"", "{", "[]", "{\"startTime\":\"soon\",\"phase\":7}"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        AUTO(fixture_done) struct fixture f;
        int64_t before_us = clock_wall_us();

        fixture_init(&f);
        save_object(&f, POD("", "one"));
        write_state(&f, bad[i]);
        load(&f);
        assert_false(f.worker.initialized || f.worker.unknown);
        assert_int_equal(f.worker.outcome, POD_GOES_ON);
        assert_true(f.worker.start_us >= before_us);
    }
}

static void an_object_that_is_damaged_is_an_error(void **state)
{
    static const char *const bad[] = {"", "{\"metadata\":{}}", "{\"metadata\":{\"name\":\"p\""};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        AUTO(fixture_done) struct fixture f;
        struct err e = {0};

        fixture_init(&f);
        assert_int_equal(worker_state_load(&f.worker, &e), -ENOENT);
        save_object(&f, bad[i]);
        assert_true(worker_state_load(&f.worker, &e) < 0);
        assert_null(f.worker.spec);
    }
}

/* Containers that run point into the first version. */
static void a_newer_version_says_when_to_end_and_not_what_to_run(void **state)
{
    AUTO(fixture_done) struct fixture f;
    const struct pod_spec *spec;
    struct err e = {0};

    (void)state;
    fixture_init(&f);
    save_object(&f, POD("", "one"));
    load(&f);
    spec = f.worker.spec;
    assert_false(spec->deleting);
    assert_int_equal(
        worker_state_load_object(&f.worker,
                                 STR(POD(",\"deletionTimestamp\":\"2026-01-01T00:00:00Z\","
                                         "\"deletionGracePeriodSeconds\":7",
                                         "two")),
                                 &e),
        0);
    assert_ptr_equal(f.worker.spec, spec);
    assert_true(spec->deleting);
    assert_int_equal(spec->delete_grace_s, 7);
    assert_int_equal(spec->deadline_s, 60);
    assert_string_equal(spec->ctrs[0].image, "one");
    assert_string_equal(jsn_get_str(f.worker.api_status, "phase"), "Running");
    /* one that does not decode changes nothing */
    assert_true(worker_state_load_object(&f.worker, STR("{}"), &e) < 0);
    assert_true(spec->deleting);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_decided_is_there_again),
        cmocka_unit_test(without_its_state_a_pod_starts_from_the_beginning),
        cmocka_unit_test(an_object_that_is_damaged_is_an_error),
        cmocka_unit_test(a_newer_version_says_when_to_end_and_not_what_to_run),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
