/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of lookups, over a real store. */
#include "src/base/test/unit.h"

#include <stdio.h>

#include "src/cluster/apiserver/kinds/lookup.h"
#include "src/cluster/apiserver/server.h"

static void put(struct store *s, const char *resource, const char *ns, const char *name,
                const char *text)
{
    struct store_key k = {resource, ns, name};
    struct err e = {0};

    if (store_put(s, &k, 0, str_of(text), NULL, &e) < 0)
        fail_msg("%s", e.text);
}

static bool count(void *arg, struct jsn *object)
{
    int64_t *sum = arg;

    *sum += jsn_get_int(object, "n", 0);
    return *sum < 100;
}

static bool count_text(void *arg, struct str data)
{
    size_t *bytes = arg;

    *bytes += data.n;
    return true;
}

static void uncommitted_objects_are_found(void **state)
{
    char dir[] = "/tmp/lookup-test-XXXXXX";
    char path[sizeof(dir) + 8];
    struct apiserver server = {0};
    struct api_call c = {.server = &server};
    struct err e = {0};
    struct jsn *object;
    int64_t sum = 0;
    size_t bytes = 0;

    (void)state;
    assert_non_null(mkdtemp(dir));
    (void)snprintf(path, sizeof(path), "%s/db", dir);
    if (store_open(&(struct store_options){.path = path}, &server.store, &e) < 0)
        fail_msg("%s", e.text);
    put(server.store, "things", "a", "x", "{\"n\":1}");
    put(server.store, "things", "a", "y", "{\"n\":2}");
    put(server.store, "things", "b", "x", "{\"n\":4}");
    put(server.store, "broken", "", "x", "{");

    assert_int_equal(lookup_get(&c, "things", "a", "y", &object), 0);
    assert_int_equal(jsn_get_int(object, "n", 0), 2);
    assert_int_equal(lookup_get(&c, "things", "a", "z", &object), -ENOENT);
    assert_null(c.failure);
    assert_int_equal(lookup_each_object(&c, "things", "a", count, &sum), 0);
    assert_int_equal(sum, 3);
    assert_int_equal(lookup_each_object(&c, "things", NULL, count, &sum), 0);
    assert_int_equal(sum, 10);
    assert_int_equal(lookup_each(&c, "things", NULL, count_text, &bytes), 0);
    assert_int_equal(bytes, 21);

    assert_int_equal(lookup_get(&c, "broken", "", "x", &object), -1);
    assert_int_equal(jsn_get_int(c.failure, "code", 0), 500);
    assert_int_equal(lookup_each_object(&c, "broken", "", count, &sum), -1);

    arena_done(&c.arena);
    (void)store_free(server.store);
    (void)remove(path);
    (void)remove(arena_printf(&c.arena, "%s/db-wal", dir));
    (void)remove(arena_printf(&c.arena, "%s/db-shm", dir));
    arena_done(&c.arena);
    (void)rmdir(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(uncommitted_objects_are_found),
    };

    return cmocka_run_group_tests_name("lookup", tests, NULL, NULL);
}
