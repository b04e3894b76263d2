/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of the operator's view: what is waited for, and in which version kinds are seen. */
#include "src/base/test/unit.h"

#include "src/kube/test/peer.h"
#include "src/operator/world.h"

#define EMPTY "{\"kind\":\"List\",\"metadata\":{\"resourceVersion\":\"5\"},\"items\":[]}"
#define ONE                                                                                        \
    "{\"kind\":\"List\",\"metadata\":{\"resourceVersion\":\"5\"},\"items\":[{\"metadata\":{"       \
    "\"name\":\"b\",\"namespace\":\"n\",\"uid\":\"u\",\"resourceVersion\":\"4\"}}]}"
#define GONE "{\"kind\":\"Status\",\"code\":404,\"reason\":\"NotFound\",\"message\":\"no\"}"

/* An API server that has nothing, and lacks some paths. */
struct lacking {
    const char *paths[3];
    int synced;
    int changes;
};

static bool lacks(const struct lacking *l, const char *path)
{
    for (size_t i = 0; i < ARRAY_LEN(l->paths); i++)
        if (l->paths[i] && strstr(path, l->paths[i]))
            return true;
    return false;
}

static void serve(struct peer *p, struct http_exchange *x)
{
    const char *path = http_exchange_request(x)->path;

    if (lacks(p->arg, path))
        peer_answer(x, 404, GONE);
    else if (peer_query_is(x, "watch", "true") || peer_query_is(x, "watch", "1"))
        peer_stream(p, x);
    else
        peer_answer(x, 200, strstr(path, "/policy/") ? ONE : EMPTY);
}

static void on_synced(void *arg)
{
    ((struct lacking *)arg)->synced++;
}

static void on_change(void *arg, const char *kind, const struct kube_object *old,
                      const struct kube_object *now)
{
    (void)kind;
    (void)old;
    (void)now;
    ((struct lacking *)arg)->changes++;
}

static struct world *watch(struct peer *p, struct lacking *l)
{
    struct world_options o = {NULL, on_change, on_synced, l};

    p->arg = l;
    return world_new(p->client, &o);
}

static const char *budget_version(const struct world *w)
{
    return world_version(w, plan_kind_find("PodDisruptionBudget"));
}

static void the_newer_version_is_taken_where_it_is(void **state)
{
    AUTO(peer_done) struct peer p;
    struct lacking l = {.paths = {"/policy/v1beta1/"}};
    struct world *w;

    (void)state;
    peer_init(&p, serve, NULL);
    w = watch(&p, &l);
    peer_run_until(&p, &l.synced, 1);
    assert_string_equal(budget_version(w), "v1");
    assert_non_null(world_get(w, "PodDisruptionBudget", "n", "b"));
    (void)world_free(w);
}

static void the_older_version_is_taken_where_it_must_be(void **state)
{
    AUTO(peer_done) struct peer p;
    struct lacking l = {.paths = {"/policy/v1/"}};
    struct world *w;

    (void)state;
    peer_init(&p, serve, NULL);
    w = watch(&p, &l);
    peer_run_until(&p, &l.synced, 1);
    assert_string_equal(budget_version(w), "v1beta1");
    assert_non_null(world_get(w, "PodDisruptionBudget", "n", "b"));
    (void)world_free(w);
}

static void an_upgrade_of_the_server_is_followed(void **state)
{
    AUTO(peer_done) struct peer p;
    struct lacking l = {.paths = {"/policy/v1/"}};
    struct world *w;

    (void)state;
    peer_init(&p, serve, NULL);
    w = watch(&p, &l);
    peer_run_until(&p, &l.synced, 1);
    peer_down(&p);
    l.paths[0] = "/policy/v1beta1/";
    peer_up(&p);
    peer_run_until(&p, &l.synced, 2);
    assert_true(world_synced(w, NULL));
    assert_string_equal(budget_version(w), "v1");
    (void)world_free(w);
}

static void a_server_without_either_is_asked_in_turns_but_not_all_the_time(void **state)
{
    AUTO(peer_done) struct peer p;
    struct lacking l = {.paths = {"/policy/v1/", "/policy/v1beta1/"}};
    const char *missing = NULL;
    size_t asked = 0;
    struct world *w;

    (void)state;
    peer_init(&p, serve, NULL);
    w = watch(&p, &l);
    peer_run_for(&p, 1000);
    assert_false(world_synced(w, &missing));
    assert_string_equal(missing, "PodDisruptionBudget");
    for (size_t i = 0; i < p.n_seen; i++)
        asked += strstr(p.seen[i], "/policy/") != NULL;
    assert_in_range(asked, 3, 30);
    l.paths[0] = NULL;
    peer_run_until(&p, &l.synced, 1);
    (void)world_free(w);
}

static void our_kinds_are_waited_for_and_others_are_not(void **state)
{
    AUTO(peer_done) struct peer p;
    struct lacking l = {.paths = {"/nodesets", "/servicemonitors", "/accountings"}};
    const char *missing = NULL;
    struct world *w;

    (void)state;
    peer_init(&p, serve, NULL);
    w = watch(&p, &l);
    peer_run_for(&p, 300);
    assert_false(world_synced(w, &missing));
    assert_string_equal(missing, "NodeSet");
    l.paths[0] = NULL;
    peer_run_until(&p, &l.synced, 1);
    assert_false(world_serves(w, "ServiceMonitor"));
    assert_true(world_serves(w, "NodeSet"));
    (void)world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_newer_version_is_taken_where_it_is),
        cmocka_unit_test(the_older_version_is_taken_where_it_must_be),
        cmocka_unit_test(an_upgrade_of_the_server_is_followed),
        cmocka_unit_test(a_server_without_either_is_asked_in_turns_but_not_all_the_time),
        cmocka_unit_test(our_kinds_are_waited_for_and_others_are_not),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
