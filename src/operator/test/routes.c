/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of who is concerned by a change, of the API server's or of Slurm's. */
#include "src/base/test/unit.h"

#include "src/base/alloc.h"
#include "src/base/clock.h"
#include "src/kube/test/peer.h"
#include "src/operator/routes.h"

#define META(name, uid, more)                                                                      \
    "\"metadata\":{\"name\":\"" name "\",\"namespace\":\"n\",\"uid\":\"" uid                       \
    "\",\"resourceVersion\":\"4\",\"generation\":1" more "}"
#define SLINKY "\"apiVersion\":\"slinky.slurm.net/v1beta1\","
#define CONTROLLER(name, spec)                                                                     \
    "{" SLINKY "\"kind\":\"Controller\"," META(name, "U-" name, "") ",\"spec\":{" spec "}}"
#define NODESET(name, of)                                                                          \
    "{" SLINKY "\"kind\":\"NodeSet\"," META(                                                       \
        name, "U-" name, "") ",\"spec\":{\"controllerRef\":{\"name\":\"" of "\"}}}"
/* One with a partition. */
#define NODESET_WITH(name, of, status)                                                             \
    "{" SLINKY "\"kind\":\"NodeSet\"," META(                                                       \
        name, "U-" name, "") ",\"spec\":{\"controllerRef\":{\"name\":\"" of                        \
                             "\"},\"partition\":{\"enabled\":true}},\"status\":{" status "}}"
#define APPLIED(status, generation)                                                                \
    "\"conditions\":[{\"type\":\"PartitionApplied\",\"status\":\"" status                          \
    "\",\"observedGeneration\":" generation ",\"reason\":\"x\",\"message\":\"\","                  \
    "\"lastTransitionTime\":\"2026-01-09T10:00:00Z\"}]"
/* One that is settled with a line, if it has one. */
#define PARTITION(name, slurm, set, status)                                                        \
    "{\"apiVersion\":\"slurmkeeper.dev/v1alpha1\",\"kind\":\"Partition\"," META(                   \
        name, "U-" name,                                                                           \
        "") ",\"spec\":{\"controllerRef\":{\"name\":\"lab\"},\"partitionName\":\"" slurm           \
            "\",\"nodeSetRefs\":[{\"name\":\"" set "\"}]},\"status\":{" status "}}"
#define SETTLED(line)                                                                              \
    "\"observedGeneration\":1,\"line\":\"" line                                                    \
    "\",\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\",\"reason\":\"x\",\"message\":"     \
    "\"\","                                                                                        \
    "\"lastTransitionTime\":\"2026-01-09T10:00:00Z\"}]"
/* One that is not as it should be, and says so. */
#define TOLD                                                                                       \
    "\"observedGeneration\":1,\"conditions\":[{\"type\":\"Ready\",\"status\":\"False\","           \
    "\"reason\":\"x\","                                                                            \
    "\"message\":\"\",\"lastTransitionTime\":\"2026-01-09T10:00:00Z\"}]"
#define POD(name, set)                                                                             \
    "{\"kind\":\"Pod\"," META(name, "P-" name,                                                     \
                              ",\"labels\":{\"app.kubernetes.io/name\":\"slurmd\","                \
                              "\"app.kubernetes.io/instance\":\"" set                              \
                              "\"},\"ownerReferences\":[{\"kind\":\"NodeSet\",\"name\":\"" set     \
                              "\",\"uid\":\"U-" set "\",\"controller\":true}]") ",\"spec\":{"      \
                                                                                "\"hostname\":"    \
                                                                                "\"h-" name "\"}}"
#define CONFIG                                                                                     \
    "{\"kind\":\"ConfigMap\"," META(                                                               \
        "lab-config", "O-lab-config",                                                              \
        ",\"ownerReferences\":[{\"kind\":\"Controller\",\"name\":\"lab\","                         \
        "\"uid\":\"U-lab\",\"controller\":true}]") ",\"data\":{\"slurm.conf\":\"PartitionName=x "  \
                                                   "Nodes=cpu\\n\"}}"

/* What the API server has. */
static const struct {
    const char *path;
    const char *items;
} lists[] = {
    {"/controllers",
     CONTROLLER("lab", "\"configFileRefs\":[{\"name\":\"files\"}]") "," CONTROLLER("other", "")},
    /* The partition of cpu is live; of gpu's that is known only of what was declared before. */
    {"/nodesets", NODESET_WITH("cpu", "lab", APPLIED("True", "1")) "," NODESET_WITH(
                      "gpu", "lab", APPLIED("True", "0")) "," NODESET("far", "other")},
    {"/pods", POD("cpu-0", "cpu") "," POD("gpu-0", "gpu") "," POD("far-0", "far")},
    {"/partitions",
     PARTITION("fine", "x", "cpu", SETTLED("PartitionName=x Nodes=cpu")) "," PARTITION(
         "lost", "lost", "gpu",
         SETTLED("PartitionName=lost Nodes=gpu")) "," PARTITION("new", "new", "gpu",
                                                                "") "," PARTITION("told", "told",
                                                                                  "gpu", TOLD)},
    {"/configmaps", CONFIG ",{\"kind\":\"ConfigMap\"," META("files", "F", "") "}"},
};

struct rig {
    struct peer peer;
    struct world *world;
    struct queue *queue;
    struct routes routes;
    int synced;
};

static void serve(struct peer *p, struct http_exchange *x)
{
    const char *path = http_exchange_request(x)->path;
    AUTO(buf_done) struct buf b = {0};

    if (peer_query_is(x, "watch", "true") || peer_query_is(x, "watch", "1")) {
        peer_stream(p, x);
        return;
    }
    buf_adds(&b, "{\"kind\":\"List\",\"metadata\":{\"resourceVersion\":\"5\"},\"items\":[");
    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        if (ends_with(path, lists[i].path))
            buf_adds(&b, lists[i].items);
    buf_adds(&b, "]}");
    peer_answer(x, 200, buf_str(&b));
}

static void on_synced(void *arg)
{
    ((struct rig *)arg)->synced++;
}

static void on_change(void *arg, const char *kind, const struct kube_object *old,
                      const struct kube_object *now)
{
    struct rig *r = arg;

    routes_follow(&r->routes, kind, old, now);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* All keys that are due at a moment, sorted; they are not in the queue afterwards. */
static void expect_keys_at(struct rig *r, int64_t now_ms, const char *text)
{
    AUTO(buf_done) struct buf b = {0};
    const char *keys[32];
    size_t n = 0;
    const char *key;

    while ((key = queue_take(r->queue, now_ms)))
        keys[n++] = key;
    qsort(keys, n, sizeof(*keys), by_text);
    for (size_t i = 0; i < n; i++)
        buf_printf(&b, "%s%s", i ? " " : "", keys[i]);
    assert_string_equal(buf_str(&b), text);
    for (size_t i = n; i-- > 0;)
        (void)queue_done(r->queue, keys[i], false, 0);
}

static void expect_keys(struct rig *r, const char *text)
{
    expect_keys_at(r, 0, text);
}

static void rig_init(struct rig *r)
{
    struct world_options o = {NULL, on_change, on_synced, r};

    *r = (struct rig){0};
    peer_init(&r->peer, serve, &(struct kube_client_options){.per_second = -1});
    r->queue = queue_new(100, 800);
    r->routes.queue = r->queue;
    r->world = world_new(r->peer.client, &o);
    r->routes.world = r->world;
    peer_run_until(&r->peer, &r->synced, 1);
}

static void rig_done(struct rig *r)
{
    (void)world_free(r->world);
    (void)queue_free(r->queue);
    peer_done(&r->peer);
}
DEFINE_AUTO_DONE(struct rig, rig_done);

#define PARTITIONS "Partition/n/fine Partition/n/lost Partition/n/new Partition/n/told"
#define EVERYTHING                                                                                 \
    "Controller/n/lab Controller/n/other NodeSet/n/cpu NodeSet/n/far NodeSet/n/gpu " PARTITIONS
#define LAB "Controller/n/lab NodeSet/n/cpu NodeSet/n/gpu " PARTITIONS

static void the_first_lists_bring_everything(void **state)
{
    AUTO(rig_done) struct rig r;

    (void)state;
    rig_init(&r);
    expect_keys(&r, EVERYTHING);
    expect_keys(&r, "");
}

static void a_change_leads_to_those_it_concerns(void **state)
{
    static const struct {
        const char *kind;
        const char *name;
        bool fresh; /* it is new; else it was changed, its spec not */
        const char *keys;
    } rows[] = {
        {"Controller", "lab", true, LAB},
        {"Controller", "lab", false, "Controller/n/lab"},
        {"NodeSet", "cpu", true, "Controller/n/lab NodeSet/n/cpu Partition/n/fine"},
        {"NodeSet", "cpu", false, "NodeSet/n/cpu"},
        {"Pod", "gpu-0", false, "NodeSet/n/gpu"},
        {"Partition", "fine", true, "Controller/n/lab Partition/n/fine"},
        {"Partition", "fine", false, "Partition/n/fine"},
        /* what waits for its line, and what has lost it */
        {"ConfigMap", "lab-config", true,
         "Controller/n/lab Partition/n/lost Partition/n/new Partition/n/told"},
        {"ConfigMap", "files", false, "Controller/n/lab"},
    };
    AUTO(rig_done) struct rig r;

    (void)state;
    rig_init(&r);
    expect_keys(&r, EVERYTHING);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct kube_object *o = world_get(r.world, rows[i].kind, "n", rows[i].name);

        assert_non_null(o);
        routes_follow(&r.routes, rows[i].kind, rows[i].fresh ? NULL : o, o);
        expect_keys(&r, rows[i].keys);
    }
}

static void
a_configuration_that_was_written_leaves_its_controller_in_peace_for_a_while(void **state)
{
    AUTO(rig_done) struct rig r;
    const struct kube_object *o;

    (void)state;
    rig_init(&r);
    expect_keys(&r, EVERYTHING);
    o = world_get(r.world, "ConfigMap", "n", "lab-config");
    routes_follow(&r.routes, "ConfigMap", o, o);
    expect_keys_at(&r, clock_mono_ms(), "Partition/n/lost Partition/n/new Partition/n/told");
    expect_keys_at(&r, clock_mono_ms() + 200, "Controller/n/lab");
    /* but not if it is gone */
    routes_follow(&r.routes, "ConfigMap", o, NULL);
    expect_keys(&r, "Controller/n/lab Partition/n/lost Partition/n/new Partition/n/told");
}

static void a_change_in_slurm_leads_to_those_it_concerns(void **state)
{
    static const char *const nodes[] = {"h-gpu-0", "unheard"};
    static const char *const drifted[] = {"cpu"};
    static const char *const changed[] = {"x", "unheard"};
    AUTO(map_done) struct map held = {.free_value = free};
    const struct {
        struct agent_change change;
        const char *keys;
    } rows[] = {
        {{.nodes = nodes, .n_nodes = 2}, "NodeSet/n/gpu"},
        /* a Partition that was just seen is not waited for: it looks again by itself */
        {{.config = true}, "Controller/n/lab NodeSet/n/gpu Partition/n/told"},
        /* but where slurmctld was handed its line */
        {{.config = true, .held_lines = &held},
         "Controller/n/lab NodeSet/n/gpu Partition/n/new Partition/n/told"},
        /* its jobs and settings: how the partition fares is not told by them */
        {{.drift = true, .drifted = drifted, .n_drifted = 1}, "Controller/n/lab NodeSet/n/cpu"},
        {{.slurmctld = true}, LAB},
        {{.full = true}, LAB},
        {{.partitions = drifted, .n_partitions = 1}, ""},
        {{.partitions = changed, .n_partitions = 2}, "Partition/n/fine"},
        {{.drift = true, .drifted = changed, .n_drifted = 1}, "Controller/n/lab Partition/n/fine"},
    };
    AUTO(rig_done) struct rig r;

    (void)state;
    slurm_lines_read(&held, "PartitionName=new Nodes=gpu\nPartitionName=x Nodes=cpu\n");
    rig_init(&r);
    expect_keys(&r, EVERYTHING);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        routes_follow_slurm(&r.routes, "n", "lab", &rows[i].change);
        expect_keys(&r, rows[i].keys);
    }
    routes_follow_cluster(&r.routes, "n", "lab");
    expect_keys(&r, LAB);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_lists_bring_everything),
        cmocka_unit_test(a_change_leads_to_those_it_concerns),
        cmocka_unit_test(
            a_configuration_that_was_written_leaves_its_controller_in_peace_for_a_while),
        cmocka_unit_test(a_change_in_slurm_leads_to_those_it_concerns),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
