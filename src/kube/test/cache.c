/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of caches: objects, indexes, handlers, memory. */
#include "src/base/test/unit.h"

#include <malloc.h>

#include "src/base/alloc.h"
#include "src/http/url.h"
#include "src/kube/cache.h"
#include "src/kube/test/peer.h"

#define LIST(version, items)                                                                       \
    "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"" version     \
    "\"},\"items\":[" items "]}"
#define POD(name, uid, version, labels, owner)                                                     \
    "{\"metadata\":{\"name\":\"" name "\",\"namespace\":\"n\",\"uid\":\"" uid                      \
    "\",\"resourceVersion\":\"" version "\",\"labels\":{" labels                                   \
    "},\"ownerReferences\":[{\"uid\":\"" owner "\"}],\"managedFields\":[{\"manager\":\"m\"}]},"    \
    "\"spec\":{\"nodeName\":\"host-" uid "\"}}"
#define EVENT(type, object) "{\"type\":\"" type "\",\"object\":" object "}"

/* What the handlers heard: "+a ~a(3>4) -a! -b?": final states end with !, others with ?. */
struct log {
    struct buf text;
    int calls;
    int synced;
    struct kube_cache *cache;
};

static void on_added(void *arg, const struct kube_object *o)
{
    struct log *l = arg;

    l->calls++;
    buf_printf(&l->text, "+%s ", o->name);
    if (l->cache)
        assert_ptr_equal(kube_cache_get(l->cache, o->namespace, o->name), o);
}

static void on_updated(void *arg, const struct kube_object *old, const struct kube_object *o)
{
    struct log *l = arg;

    l->calls++;
    buf_printf(&l->text, "~%s(%s>%s) ", o->name, old->version, o->version);
}

static void on_deleted(void *arg, const struct kube_object *o, bool is_final)
{
    struct log *l = arg;

    l->calls++;
    buf_printf(&l->text, "-%s@%s%s ", o->name, o->version, is_final ? "!" : "?");
}

static void on_synced(void *arg)
{
    struct log *l = arg;

    l->synced++;
    buf_adds(&l->text, "synced ");
}

static void log_done(struct log *l)
{
    buf_done(&l->text);
}
DEFINE_AUTO_DONE(struct log, log_done);

static struct kube_handler handler(struct log *l)
{
    return (struct kube_handler){on_added, on_updated, on_deleted, on_synced, l};
}

static void index_node(void *arg, const struct jsn *object, struct kube_index_out *out)
{
    (void)arg;
    kube_index_emit(out, str_of(jsn_get_str(object, "spec.nodeName")));
    kube_index_emit(out, str_of(jsn_get_str(object, "spec.nodeName")));
}

static void index_app(void *arg, const struct jsn *object, struct kube_index_out *out)
{
    (void)arg;
    kube_index_emit(out, str_of(jsn_get_str(object, "metadata.labels.app")));
}

static const struct kube_index indexes[] = {
    {"node", index_node, NULL}, {"app", index_app, NULL}, {0}};

static struct kube_cache_options options(void)
{
    return (struct kube_cache_options){
        .reflector = {.scope = {.resource = {"", "v1", "pods"}}, .backoff_first_ms = 10},
        .by_owner = true,
        .indexes = indexes,
    };
}

/* Lists p->arg. */
static void serve(struct peer *p, struct http_exchange *x)
{
    if (peer_query_is(x, "watch", "true"))
        peer_stream(p, x);
    else
        peer_answer(x, 200, p->arg);
}

static char two[] = LIST("5", POD("a", "u1", "3", "\"app\":\"x\",\"tier\":\"1\"",
                                  "o1") "," POD("b", "u2", "4", "\"app\":\"x\"", "o2"));

static void objects_are_found_by_name_and_by_index(void **state)
{
    AUTO(log_done) struct log l = {0};
    AUTO(peer_done) struct peer p;
    AUTO(kube_cache_free) struct kube_cache *c = NULL;
    struct kube_cache_options o = options();
    const struct kube_object *a;

    (void)state;
    peer_init(&p, serve, NULL);
    p.arg = two;
    c = kube_cache_new(p.client, &o);
    l.cache = c;
    kube_cache_add_handler(c, &(struct kube_handler){on_added, NULL, NULL, on_synced, &l});
    assert_false(kube_cache_synced(c));
    peer_run_until(&p, &l.synced, 1);
    assert_true(kube_cache_synced(c));
    assert_int_equal(kube_cache_count(c), 2);
    a = kube_cache_get(c, "n", "a");
    assert_string_equal(a->namespace, "n");
    assert_string_equal(a->uid, "u1");
    assert_string_equal(a->version, "3");
    assert_string_equal(a->text.p,
                        "{\"metadata\":{\"name\":\"a\",\"namespace\":\"n\",\"uid\":\"u1\","
                        "\"resourceVersion\":\"3\",\"labels\":{\"app\":\"x\",\"tier\":\"1\"},"
                        "\"ownerReferences\":[{\"uid\":\"o1\"}]},\"spec\":{\"nodeName\":"
                        "\"host-u1\"},\"kind\":\"Pod\",\"apiVersion\":\"v1\"}");
    assert_null(kube_cache_get(c, "n", "c"));
    assert_null(kube_cache_get(c, NULL, "a"));
    assert_int_equal(kube_cache_by_owner(c, "o1").n, 1);
    assert_ptr_equal(kube_cache_by_owner(c, "o1").items[0], a);
    assert_int_equal(kube_cache_by_owner(c, "o9").n, 0);
    assert_int_equal(kube_cache_by_index(c, "app", "x").n, 2);
    assert_int_equal(kube_cache_by_index(c, "app", "z").n, 0);
    assert_int_equal(kube_cache_by_index(c, "node", "host-u2").n, 1);
}

static void changes_move_objects_between_values(void **state)
{
    AUTO(log_done) struct log l = {0};
    AUTO(peer_done) struct peer p;
    AUTO(kube_cache_free) struct kube_cache *c = NULL;
    struct kube_cache_options o = options();
    struct kube_handler h = handler(&l);

    (void)state;
    peer_init(&p, serve, NULL);
    p.arg = two;
    c = kube_cache_new(p.client, &o);
    kube_cache_add_handler(c, &h);
    peer_run_until(&p, &p.streams, 1);
    buf_clear(&l.text);
    peer_line(&p, EVENT("MODIFIED", POD("a", "u1", "6", "\"app\":\"y\"", "o2")));
    peer_line(&p, EVENT("ADDED", POD("c", "u3", "7", "\"app\":\"x\"", "o2")));
    peer_line(&p, EVENT("DELETED", POD("b", "u2", "8", "\"app\":\"x\"", "o2")));
    peer_line(&p, EVENT("DELETED", POD("stranger", "u8", "9", "", "o2")));
    peer_run_until(&p, &l.calls, 5);
    peer_run_for(&p, 30);
    assert_string_equal(buf_str(&l.text), "~a(3>6) +c -b@8! ");
    assert_int_equal(kube_cache_by_index(c, "app", "x").n, 1);
    assert_string_equal(kube_cache_by_index(c, "app", "x").items[0]->name, "c");
    assert_string_equal(kube_cache_by_index(c, "app", "y").items[0]->name, "a");
    assert_int_equal(kube_cache_by_owner(c, "o1").n, 0);
    assert_int_equal(kube_cache_by_owner(c, "o2").n, 2);
    assert_int_equal(kube_cache_count(c), 2);
}

static void listing_anew_finds_what_was_missed(void **state)
{
    AUTO(log_done) struct log l = {0};
    AUTO(peer_done) struct peer p;
    AUTO(kube_cache_free) struct kube_cache *c = NULL;
    struct kube_cache_options o = options();
    struct kube_handler h = handler(&l);
    char later[] =
        LIST("20", POD("b", "u2", "4", "\"app\":\"x\"", "o2") "," POD("d", "u4", "15", "", "o2"));

    (void)state;
    peer_init(&p, serve, NULL);
    p.arg = two;
    c = kube_cache_new(p.client, &o);
    kube_cache_add_handler(c, &h);
    peer_run_until(&p, &p.streams, 1);
    assert_true(starts_with(buf_str(&l.text), "+a +b synced "));
    buf_clear(&l.text);
    p.arg = later;
    peer_line(&p, EVENT("ERROR", "{\"kind\":\"Status\",\"code\":410,\"reason\":\"Expired\"}"));
    peer_run_until(&p, &p.streams, 2);
    assert_string_equal(buf_str(&l.text), "+d -a@3? ");
    assert_int_equal(l.synced, 1);
    assert_int_equal(kube_cache_by_owner(c, "o1").n, 0);
}

static void a_namesake_is_another_object(void **state)
{
    AUTO(log_done) struct log l = {0};
    AUTO(peer_done) struct peer p;
    AUTO(kube_cache_free) struct kube_cache *c = NULL;
    struct kube_cache_options o = options();
    struct kube_handler h = handler(&l);

    (void)state;
    peer_init(&p, serve, NULL);
    p.arg = two;
    c = kube_cache_new(p.client, &o);
    kube_cache_add_handler(c, &h);
    peer_run_until(&p, &p.streams, 1);
    buf_clear(&l.text);
    peer_line(&p, EVENT("MODIFIED", POD("a", "u9", "6", "", "o1")));
    peer_run_until(&p, &l.calls, 4);
    assert_string_equal(buf_str(&l.text), "-a@3? +a ");
    assert_string_equal(kube_cache_get(c, "n", "a")->uid, "u9");
}

static void a_late_handler_hears_everything(void **state)
{
    AUTO(log_done) struct log l = {0};
    AUTO(peer_done) struct peer p;
    AUTO(kube_cache_free) struct kube_cache *c = NULL;
    struct kube_cache_options o = options();
    struct kube_handler h = handler(&l);

    (void)state;
    peer_init(&p, serve, NULL);
    p.arg = two;
    c = kube_cache_new(p.client, &o);
    peer_run_until(&p, &p.streams, 1);
    kube_cache_add_handler(c, &h);
    assert_int_equal(l.calls, 2);
    assert_true(ends_with(buf_str(&l.text), "synced "));
}

struct decoded {
    char *node;
};

static int live;

static void *decode(void *arg, const struct jsn *object, struct err *e)
{
    const char *node = jsn_get_str(object, "spec.nodeName");
    struct decoded *d;

    (void)arg;
    if (!node) {
        (void)err_bad(e, "spec.nodeName: is missing");
        return NULL;
    }
    d = xcalloc(1, sizeof(*d));
    d->node = xstrdup(node);
    live++;
    return d;
}

static void release(void *value)
{
    struct decoded *d = value;

    live--;
    free(d->node);
    free(d);
}

static void a_decoder_makes_values_and_bad_objects_are_carried(void **state)
{
    static const struct kube_decoder decoder = {decode, release, NULL};
    AUTO(log_done) struct log l = {0};
    AUTO(peer_done) struct peer p;
    AUTO(kube_cache_free) struct kube_cache *c = NULL;
    AUTO(arena_done) struct arena arena = {0};
    struct kube_cache_options o = options();
    struct kube_handler h = handler(&l);
    const struct kube_object *a;
    struct err e = {0};
    struct jsn *v;

    (void)state;
    o.decoder = &decoder;
    peer_init(&p, serve, NULL);
    p.arg = two;
    c = kube_cache_new(p.client, &o);
    kube_cache_add_handler(c, &h);
    peer_run_until(&p, &p.streams, 1);
    a = kube_cache_get(c, "n", "a");
    assert_string_equal(((struct decoded *)a->value)->node, "host-u1");
    assert_int_equal(a->text.n, 0);
    assert_null(a->problem);
    assert_int_equal(kube_object_parse(a, &arena, &v, &e), -EINVAL);
    peer_line(&p, EVENT("MODIFIED", "{\"metadata\":{\"name\":\"a\",\"namespace\":\"n\",\"uid\":"
                                    "\"u1\",\"resourceVersion\":\"7\"}}"));
    peer_run_until(&p, &l.calls, 3);
    a = kube_cache_get(c, "n", "a");
    assert_null(a->value);
    assert_string_equal(a->problem, "spec.nodeName: is missing");
    assert_int_equal(live, 1);
    c = kube_cache_free(c);
    assert_int_equal(live, 0);
}

static void kept_text_parses_again(void **state)
{
    AUTO(peer_done) struct peer p;
    AUTO(kube_cache_free) struct kube_cache *c = NULL;
    AUTO(arena_done) struct arena arena = {0};
    struct kube_cache_options o = options();
    struct err e = {0};
    struct jsn *v;

    (void)state;
    peer_init(&p, serve, NULL);
    p.arg = two;
    c = kube_cache_new(p.client, &o);
    peer_run_until(&p, &p.streams, 1);
    assert_int_equal(kube_object_parse(kube_cache_get(c, "n", "b"), &arena, &v, &e), 0);
    assert_string_equal(jsn_get_str(v, "spec.nodeName"), "host-u2");
}

#define MANY 10000
#define PAGE 500

/* A pod as kubectl shows one of a StatefulSet that runs: 2.5 KB, and as much of managedFields. */
static void add_pod(struct buf *b, int i)
{
    buf_printf(
        b,
        "{\"metadata\":{\"name\":\"slurm-worker-gpu-%d\",\"generateName\":\"slurm-worker-gpu-\","
        "\"namespace\":\"slurm\",\"uid\":\"7a3c1f66-0c1e-4b0a-9f43-%012d\",\"resourceVersion\":"
        "\"%d\",\"creationTimestamp\":\"2026-01-09T10:00:00Z\",\"labels\":{"
        "\"app.kubernetes.io/component\":\"worker\",\"app.kubernetes.io/instance\":\"gpu\","
        "\"app.kubernetes.io/name\":\"slurmd\",\"controller-revision-hash\":\"slurm-6b7d\","
        "\"apps.kubernetes.io/pod-index\":\"%d\"},\"ownerReferences\":[{\"apiVersion\":\"apps/v1\","
        "\"kind\":\"StatefulSet\",\"name\":\"slurm-worker-gpu\",\"uid\":"
        "\"11111111-2222-3333-4444-%012d\",\"controller\":true,\"blockOwnerDeletion\":true}],",
        i, i, 1000 + i, i, i / 100);
    buf_adds(b, "\"managedFields\":[{\"manager\":\"kube-controller-manager\",\"operation\":"
                "\"Update\",\"apiVersion\":\"v1\",\"fieldsV1\":{");
    for (int f = 0; f < 40; f++)
        buf_printf(b, "%s\"f:field%d\":{\"f:inner\":{},\"f:other\":{\".\":{}}}", f ? "," : "", f);
    buf_adds(b, "}}]},\"spec\":{\"volumes\":[");
    for (int v = 0; v < 4; v++)
        buf_printf(b,
                   "%s{\"name\":\"volume-%d\",\"projected\":{\"sources\":[{\"secret\":{\"name\":"
                   "\"slurm-auth\"}}],\"defaultMode\":384}}",
                   v ? "," : "", v);
    buf_adds(b, "],\"containers\":[{\"name\":\"slurmd\",\"image\":\"registry.test/slurmd:25.11\","
                "\"args\":[\"-Z\",\"--conf\",\"Features=gpu Gres=gpu:8\"],\"ports\":[{\"name\":"
                "\"slurmd\",\"containerPort\":6818,\"protocol\":\"TCP\"}],\"env\":[");
    for (int v = 0; v < 8; v++)
        buf_printf(b, "%s{\"name\":\"VARIABLE_%d\",\"value\":\"some value of it\"}", v ? "," : "",
                   v);
    buf_printf(b,
               "],\"resources\":{\"limits\":{\"cpu\":\"64\",\"memory\":\"512Gi\"}},"
               "\"terminationMessagePath\":\"/dev/termination-log\",\"imagePullPolicy\":"
               "\"IfNotPresent\"}],\"restartPolicy\":\"Always\",\"terminationGracePeriodSeconds\":"
               "30,\"dnsPolicy\":\"ClusterFirst\",\"nodeName\":\"host-%d\",\"hostname\":\"gpu-%d\","
               "\"schedulerName\":\"default-scheduler\"},\"status\":{\"phase\":\"Running\","
               "\"conditions\":[",
               i, i);
    for (int v = 0; v < 4; v++)
        buf_printf(b,
                   "%s{\"type\":\"Condition%d\",\"status\":\"True\",\"lastProbeTime\":null,"
                   "\"lastTransitionTime\":\"2026-01-09T10:00:05Z\"}",
                   v ? "," : "", v);
    buf_printf(b,
               "],\"hostIP\":\"10.0.0.1\",\"podIP\":\"10.1.%d.%d\",\"startTime\":"
               "\"2026-01-09T10:00:00Z\",\"containerStatuses\":[{\"name\":\"slurmd\",\"state\":"
               "{\"running\":{\"startedAt\":\"2026-01-09T10:00:04Z\"}},\"ready\":true,"
               "\"restartCount\":0,\"image\":\"registry.test/slurmd:25.11\",\"imageID\":"
               "\"sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\","
               "\"containerID\":\"containerd://0123456789abcdef0123456789abcdef\",\"started\":"
               "true}],\"qosClass\":\"Guaranteed\"}}",
               i / 256, i % 256);
}

static void serve_many(struct peer *p, struct http_exchange *x)
{
    AUTO(url_query_done) struct url_query q = {0};
    AUTO(buf_done) struct buf b = {0};
    struct err e = {0};
    int64_t from = 0;

    assert_int_equal(url_query_parse(http_exchange_request(x)->query, &q, &e), 0);
    if (url_query_get(&q, "watch")) {
        peer_stream(p, x);
        return;
    }
    assert_int_equal(url_query_i64(&q, "continue", 0, &from, &e), 0);
    buf_adds(&b, "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":"
                 "\"99999\"");
    if (from + PAGE < MANY)
        buf_printf(&b, ",\"continue\":\"%d\"", (int)from + PAGE);
    buf_adds(&b, "},\"items\":[");
    for (int i = 0; i < PAGE; i++) {
        buf_adds(&b, i ? "," : "");
        add_pod(&b, (int)from + i);
    }
    buf_adds(&b, "]}");
    http_reply(x, 200, "application/json", NULL, buf_view(&b));
}

static void ten_thousand_pods_cost_less_than_40_mb(void **state)
{
    AUTO(peer_done) struct peer p;
    AUTO(kube_cache_free) struct kube_cache *c = NULL;
    struct kube_cache_options o = options();
    size_t before = mallinfo2().uordblks;
    size_t after;

    (void)state;
    peer_init(&p, serve_many, NULL);
    c = kube_cache_new(p.client, &o);
    peer_run_until(&p, &p.streams, 1);
    peer_run_for(&p, 20);
    after = mallinfo2().uordblks;
    print_message("10,000 pods: text %zu bytes each, cache %zu KiB, heap %zu KiB\n",
                  kube_cache_get(c, "slurm", "slurm-worker-gpu-77")->text.n,
                  kube_cache_bytes(c) >> 10, (after - before) >> 10);
    assert_int_equal(kube_cache_count(c), MANY);
    assert_int_equal(kube_cache_by_owner(c, "11111111-2222-3333-4444-000000000007").n, 100);
    assert_int_equal(kube_cache_by_index(c, "node", "host-4711").n, 1);
    assert_true(kube_cache_bytes(c) < (size_t)40 << 20);
    assert_true(after - before < (size_t)40 << 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(objects_are_found_by_name_and_by_index),
        cmocka_unit_test(changes_move_objects_between_values),
        cmocka_unit_test(listing_anew_finds_what_was_missed),
        cmocka_unit_test(a_namesake_is_another_object),
        cmocka_unit_test(a_late_handler_hears_everything),
        cmocka_unit_test(a_decoder_makes_values_and_bad_objects_are_carried),
        cmocka_unit_test(kept_text_parses_again),
        cmocka_unit_test(ten_thousand_pods_cost_less_than_40_mb),
    };

    return cmocka_run_group_tests_name("cache", tests, NULL, NULL);
}
