/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The client layer against a real server.
 *
 * Usage: test-client-server SLURMKEEPER.  Starts the embedded API server, or takes the one that the
 * file in SLURMKEEPER_TEST_KUBECONFIG leads to (a kube-apiserver, say); then what needs the server
 * killed is left out.  All objects are in a namespace of the test's own, which it deletes.
 */
#include "src/base/test/unit.h"

#include "src/base/alloc.h"
#include "src/base/clock.h"
#include "src/kube/cache.h"
#include "src/kube/event.h"
#include "src/kube/lease.h"
#include "tests/client/embedded.h"

#define PATIENCE_MS 30000
#define MANY 1200

static const struct kube_resource namespaces = {"", "v1", "namespaces"};
static const struct kube_resource maps = {"", "v1", "configmaps"};
static const struct kube_resource leases = {"coordination.k8s.io", "v1", "leases"};
static const struct kube_resource event_list = {"", "v1", "events"};

struct world {
    const char *program;
    bool is_embedded;
    struct embedded server;
    struct loop *loop;
    struct kube_target *target;
    struct kube_client *client;
    char namespace[48];
    struct arena arena; /* of results; cleared by each call */
    struct jsn *value;
    struct kube_failure f;
    int done;
};

static struct world w;

static void note(void *arg, const struct kube_answer *a, const struct kube_failure *f)
{
    (void)arg;
    w.done++;
    arena_done(&w.arena);
    w.value = a ? jsn_clone(&w.arena, a->value) : NULL;
    w.f = f ? *f : (struct kube_failure){0};
}

static void turn_until(const int *what, int n)
{
    int64_t end = clock_mono_ms() + PATIENCE_MS;

    while (*what < n) {
        (void)loop_turn(w.loop, 50);
        if (clock_mono_ms() > end)
            fail_msg("waited in vain for %d, at %d", n, *what);
    }
}

/* One call, waited for.  Returns 0 or the failure's errno. */
static int call(struct kube_request r)
{
    int before = w.done;

    r.fn = note;
    (void)kube_call_start(w.client, &r);
    turn_until(&w.done, before + 1);
    return w.f.err.num;
}

static struct jsn *parse(struct arena *a, const char *text)
{
    struct jsn *v = NULL;
    struct err e = {0};

    if (jsn_parse(a, str_of(text), NULL, &v, &e) < 0)
        fail_msg("%s", e.text);
    return v;
}

static struct kube_request on(enum kube_verb verb, const char *name)
{
    return (struct kube_request){
        .verb = verb, .resource = maps, .namespace = w.namespace, .name = name};
}

static int write_map(enum kube_verb verb, const char *name, const char *text)
{
    AUTO(arena_done) struct arena a = {0};
    struct kube_request r = on(verb, verb == KUBE_CREATE ? NULL : name);

    r.body = parse(&a, text);
    return call(r);
}

static int make_map(const char *name)
{
    AUTO(free)
    char *text = xasprintf("{\"metadata\":{\"name\":\"%s\",\"labels\":{\"app\":\"x\"}},"
                           "\"data\":{\"a\":\"1\"}}",
                           name);

    return write_map(KUBE_CREATE, name, text);
}

static void every_verb_does_its_work(void **state)
{
    AUTO(buf_done) struct buf whole = {0};

    (void)state;
    assert_int_equal(make_map("verbs"), 0);
    assert_int_equal(call(on(KUBE_GET, "verbs")), 0);
    assert_string_equal(jsn_get_str(w.value, "data.a"), "1");
    assert_int_equal(write_map(KUBE_PATCH_MERGE, "verbs", "{\"data\":{\"b\":\"2\"}}"), 0);
    assert_int_equal(write_map(KUBE_PATCH_JSON, "verbs",
                               "[{\"op\":\"add\",\"path\":\"/data/c\",\"value\":\"3\"}]"),
                     0);
    assert_int_equal(write_map(KUBE_PATCH_STRATEGIC, "verbs", "{\"data\":{\"d\":\"4\"}}"), 0);
    assert_int_equal(write_map(KUBE_APPLY, "verbs",
                               "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{"
                               "\"name\":\"verbs\"},\"data\":{\"e\":\"5\"}}"),
                     0);
    assert_int_equal(jsn_len(jsn_get(w.value, "data")), 5);
    jsn_set_path(&w.arena, w.value, "data.f", jsn_string(&w.arena, "6"));
    jsn_print(&whole, w.value);
    assert_int_equal(write_map(KUBE_UPDATE, "verbs", buf_str(&whole)), 0);
    assert_string_equal(jsn_get_str(w.value, "data.f"), "6");
    assert_int_equal(call(on(KUBE_LIST, NULL)), 0);
    assert_string_equal(jsn_get_str(w.value, "kind"), "ConfigMapList");
    assert_int_equal(call(on(KUBE_DELETE, "verbs")), 0);
    assert_int_equal(call(on(KUBE_GET, "verbs")), -ENOENT);
    assert_string_equal(w.f.reason, "NotFound");
}

static void refusals_are_told_apart(void **state)
{
    AUTO(buf_done) struct buf old = {0};

    (void)state;
    assert_int_equal(make_map("refused"), 0);
    jsn_print(&old, w.value);
    assert_int_equal(make_map("refused"), -EEXIST);
    assert_int_equal(w.f.err.class, ERR_CONFLICT);
    assert_int_equal(write_map(KUBE_PATCH_MERGE, "refused", "{\"data\":{\"a\":\"9\"}}"), 0);
    assert_int_equal(write_map(KUBE_UPDATE, "refused", buf_str(&old)), -ESTALE);
    assert_int_equal(w.f.err.class, ERR_CONFLICT);
    assert_int_equal(w.f.code, 409);
    assert_int_equal(make_map("Not_A_Name"), -EINVAL);
    assert_int_equal(w.f.code, 422);
    assert_string_equal(w.f.reason, "Invalid");
    assert_int_equal(w.f.err.class, ERR_PERMANENT);
    assert_int_equal(write_map(KUBE_PATCH_MERGE, "refused", "[]"), -EINVAL);
    assert_int_equal(call(on(KUBE_DELETE, "refused")), 0);
}

static int synced, added, updated, deleted;

static void on_added(void *arg, const struct kube_object *o)
{
    (void)arg;
    (void)o;
    added++;
}

static void on_updated(void *arg, const struct kube_object *old, const struct kube_object *o)
{
    (void)arg;
    (void)old;
    (void)o;
    updated++;
}

static void on_deleted(void *arg, const struct kube_object *o, bool is_final)
{
    (void)arg;
    assert_true(is_final);
    assert_true(starts_with(o->name, "many-"));
    deleted++;
}

static void on_synced(void *arg)
{
    (void)arg;
    synced++;
}

static struct kube_cache *cached(unsigned int page_limit)
{
    struct kube_cache_options o = {
        .reflector = {.scope = {maps, w.namespace, "app=x", NULL}, .page_limit = page_limit},
    };
    struct kube_handler h = {on_added, on_updated, on_deleted, on_synced, NULL};
    struct kube_cache *c = kube_cache_new(w.client, &o);

    synced = added = updated = deleted = 0;
    kube_cache_add_handler(c, &h);
    return c;
}

static void created(void *arg, const struct kube_answer *a, const struct kube_failure *f)
{
    (void)arg;
    if (!a)
        fail_msg("%s", f->err.text);
    w.done++;
}

static void make_many(int from, int to)
{
    int before = w.done;

    for (int i = from; i < to; i++) {
        AUTO(arena_done) struct arena a = {0};
        AUTO(free)
        char *text = xasprintf("{\"metadata\":{\"name\":\"many-%d\",\"labels\":{"
                               "\"app\":\"x\"}},\"data\":{\"a\":\"1\"}}",
                               i);
        struct kube_request r = on(KUBE_CREATE, NULL);

        r.body = parse(&a, text);
        r.fn = created;
        r.deadline_ms = PATIENCE_MS;
        (void)kube_call_start(w.client, &r);
    }
    turn_until(&w.done, before + to - from);
}

static void a_cache_follows_a_paged_collection(void **state)
{
    AUTO(kube_cache_free) struct kube_cache *c = NULL;

    (void)state;
    make_many(0, MANY);
    c = cached(100);
    turn_until(&synced, 1);
    assert_int_equal(kube_cache_count(c), MANY);
    assert_int_equal(added, MANY);
    make_many(MANY, MANY + 10);
    turn_until(&added, MANY + 10);
    assert_int_equal(write_map(KUBE_PATCH_MERGE, "many-7", "{\"data\":{\"a\":\"2\"}}"), 0);
    turn_until(&updated, 1);
    assert_int_equal(call(on(KUBE_DELETE, "many-8")), 0);
    turn_until(&deleted, 1);
    assert_int_equal(
        write_map(KUBE_PATCH_MERGE, "many-9", "{\"metadata\":{\"labels\":{\"app\":\"y\"}}}"), 0);
    turn_until(&deleted, 2);
    assert_null(kube_cache_get(c, w.namespace, "many-8"));
    assert_int_equal(kube_cache_count(c), MANY + 8);
}

static void a_cache_outlives_its_server(void **state)
{
    AUTO(kube_cache_free) struct kube_cache *c = NULL;

    (void)state;
    if (!w.is_embedded)
        skip();
    c = cached(0);
    turn_until(&synced, 1);
    added = 0;
    for (int i = 0; i < 3; i++) {
        AUTO(free) char *name = xasprintf("many-after-%d", i);

        embedded_kill(&w.server);
        for (int t = 0; t < 5; t++)
            (void)loop_turn(w.loop, 20);
        embedded_start(&w.server);
        while (make_map(name) != 0) {
            assert_int_equal(w.f.err.class, ERR_RETRY);
            (void)usleep(20000);
        }
        turn_until(&added, i + 1);
    }
    assert_int_equal(deleted, 0);
    assert_int_equal(synced, 1);
}

static int watch_ends;
static struct kube_failure watch_failure;

static void on_change(void *arg, enum kube_change change, struct jsn *object, struct arena *arena)
{
    (void)arg;
    (void)change;
    (void)object;
    (void)arena;
}

static void on_watch_end(void *arg, const struct kube_failure *f)
{
    (void)arg;
    watch_ends++;
    watch_failure = f ? *f : (struct kube_failure){0};
}

static void a_version_that_is_gone_is_told_so(void **state)
{
    struct kube_watch_options o = {.scope = {maps, w.namespace, NULL, NULL},
                                   .version = "1",
                                   .on_change = on_change,
                                   .on_end = on_watch_end};
    int64_t end = clock_mono_ms() + PATIENCE_MS;

    (void)state;
    watch_ends = 0;
    do { /* the history is short, but it has to pass */
        int before = watch_ends;
        struct kube_watch *watch = kube_watch_open(w.client, &o);

        for (int i = 0; i < 20 && watch_ends == before; i++)
            (void)loop_turn(w.loop, 50);
        if (watch_ends > before)
            break;
        (void)kube_watch_close(watch);
    } while (clock_mono_ms() < end);
    assert_int_equal(watch_failure.err.num, -EIDRM);
    assert_int_equal(watch_failure.code, 410);
}

struct candidate {
    struct kube_election *el;
    int started;
    int stopped;
    int done;
};

static void on_started(void *arg)
{
    ((struct candidate *)arg)->started++;
}

static void on_stopped(void *arg)
{
    ((struct candidate *)arg)->stopped++;
}

static void on_done(void *arg)
{
    ((struct candidate *)arg)->done++;
}

static void campaign(struct candidate *c, const char *identity)
{
    struct kube_election_options o = {.namespace = w.namespace,
                                      .name = "leader",
                                      .identity = identity,
                                      .lease_ms = 4000,
                                      .renew_ms = 3000,
                                      .retry_ms = 200,
                                      .started = on_started,
                                      .stopped = on_stopped,
                                      .arg = c};
    struct err e = {0};

    assert_int_equal(kube_election_new(w.client, &o, &c->el, &e), 0);
}

static void the_lead_goes_from_one_to_the_other(void **state)
{
    struct kube_request get = {
        .verb = KUBE_GET, .resource = leases, .namespace = w.namespace, .name = "leader"};
    struct candidate a = {0}, b = {0};
    int64_t end;

    (void)state;
    campaign(&a, "a");
    turn_until(&a.started, 1);
    campaign(&b, "b");
    end = clock_mono_ms() + 1500;
    while (clock_mono_ms() < end)
        (void)loop_turn(w.loop, 50);
    assert_int_equal(b.started + a.stopped, 0);
    kube_election_stop(a.el, on_done, &a);
    turn_until(&b.started, 1);
    assert_int_equal(a.done, 1);
    assert_int_equal(call(get), 0);
    assert_string_equal(jsn_get_str(w.value, "spec.holderIdentity"), "b");
    assert_int_equal(jsn_get_int(w.value, "spec.leaseTransitions", 0), 1);
    kube_election_stop(b.el, on_done, &b);
    turn_until(&b.done, 1);
    a.el = kube_election_free(a.el);
    b.el = kube_election_free(b.el);
}

static void drain(struct kube_recorder *r)
{
    int64_t end = clock_mono_ms() + PATIENCE_MS;

    while (kube_recorder_pending(r) > 0 && clock_mono_ms() < end)
        (void)loop_turn(w.loop, 50);
    assert_int_equal(kube_recorder_pending(r), 0);
}

static void events_are_counted_on_the_server(void **state)
{
    static const char *const query[] = {"fieldSelector", "involvedObject.name=subject", NULL};
    AUTO(kube_recorder_free)
    struct kube_recorder *r = kube_recorder_new(w.client, "client-test", "host");
    struct kube_reference about = {.api_version = "v1",
                                   .kind = "ConfigMap",
                                   .namespace = w.namespace,
                                   .name = "subject",
                                   .uid = "11111111-2222-3333-4444-555555555555"};
    struct kube_request list = {
        .verb = KUBE_LIST, .resource = event_list, .namespace = w.namespace, .query = query};

    (void)state;
    for (int i = 0; i < 4; i++) {
        kube_recorder_emit(r, &about, KUBE_EVENT_WARNING, "Refused", "for a reason");
        drain(r);
    }
    assert_int_equal(kube_recorder_dropped(r), 0);
    assert_int_equal(call(list), 0);
    assert_int_equal(jsn_len(jsn_get(w.value, "items")), 1);
    assert_int_equal(jsn_get_int(jsn_item(jsn_get(w.value, "items"), 0), "count", 0), 4);
    assert_string_equal(jsn_get_str(jsn_item(jsn_get(w.value, "items"), 0), "type"), "Warning");
}

static int open_world(void **state)
{
    static const struct kube_client_options quick = {.per_second = -1};
    const char *given = getenv("SLURMKEEPER_TEST_KUBECONFIG");
    struct kube_wish wish = {.kubeconfig = given};
    struct err e = {0};

    (void)state;
    w.is_embedded = !given;
    if (w.is_embedded) {
        embedded_init(&w.server, w.program);
        wish.kubeconfig = w.server.kubeconfig;
    }
    (void)snprintf(w.namespace, sizeof(w.namespace), "client-test-%llx",
                   (unsigned long long)clock_wall_us());
    if (loop_new(&w.loop, &e) < 0 || kube_target_find(&wish, &w.target, &e) < 0 ||
        kube_client_new(w.loop, w.target, &quick, &w.client, &e) < 0)
        fail_msg("%s", e.text);
    return 0;
}

static int make_namespace(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    AUTO(free) char *text = NULL;

    if (open_world(state) < 0)
        return -1;
    text = xasprintf("{\"metadata\":{\"name\":\"%s\"}}", w.namespace);
    if (call((struct kube_request){
            .verb = KUBE_CREATE, .resource = namespaces, .body = parse(&a, text)}) == 0)
        return 0;
    print_error("%s\n", w.f.err.text);
    return -1;
}

static int close_world(void **state)
{
    (void)state;
    (void)call(
        (struct kube_request){.verb = KUBE_DELETE, .resource = namespaces, .name = w.namespace});
    arena_done(&w.arena);
    w.client = kube_client_free(w.client);
    w.target = kube_target_free(w.target);
    w.loop = loop_free(w.loop);
    if (w.is_embedded)
        embedded_done(&w.server);
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_verb_does_its_work),
        cmocka_unit_test(refusals_are_told_apart),
        cmocka_unit_test(a_cache_follows_a_paged_collection),
        cmocka_unit_test(a_cache_outlives_its_server),
        cmocka_unit_test(a_version_that_is_gone_is_told_so),
        cmocka_unit_test(the_lead_goes_from_one_to_the_other),
        cmocka_unit_test(events_are_counted_on_the_server),
    };

    if (argc != 2) {
        (void)fprintf(stderr, "usage: %s SLURMKEEPER\n", argv[0]);
        return 2;
    }
    w.program = argv[1];
    return cmocka_run_group_tests_name("server", tests, make_namespace, close_world);
}
