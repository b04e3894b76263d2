/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unit tests of NodeSets in short: what is built from them is what is built from whole ones.
 *
 * nodeset_brief copies the fields that the configuration of a cluster is made from.  A field that
 * a builder begins to read and that is not copied would be its default without a word.  So here is
 * a NodeSet in which every field is set to something else than its default; a field that is new in
 * the table must be set here, too.
 */
#include "src/build/test/clusters.h"

#include "src/build/controller_config.h"
#include "src/build/workers.h"

#define FULL                                                                                       \
    "spec:\n"                                                                                      \
    "  controllerRef: {name: c, namespace: slurm}\n"                                               \
    "  replicas: 1500\n"                                                                           \
    "  scalingMode: DaemonSet\n"                                                                   \
    "  slurmd: {image: 'x:25.05', env: [{name: A, value: b}]}\n"                                   \
    "  ssh: {enabled: true, extraSshdConfig: 'X y', sssdConfRef: {name: s, key: k, optional: "     \
    "true}}\n"                                                                                     \
    "  logfile: {image: log}\n"                                                                    \
    "  template: {metadata: {labels: {l: m}, annotations: {e: f}}, spec: {hostname: gpu-, "        \
    "nodeSelector: {x: z}}}\n"                                                                     \
    "  extraConf: 'Features=a Weight=3'\n"                                                         \
    "  partition: {enabled: true, config: 'MaxTime=7 State=DRAIN'}\n"                              \
    "  volumeClaimTemplates: [{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: d}, " \
    "spec: {a: b}, status: {c: d}}]\n"                                                             \
    "  updateStrategy: {type: ScheduledUpdate, rollingUpdate: {maxUnavailable: '20%'},\n"          \
    "    scheduledUpdate: {startTime: '2026-01-09T10:00:00Z', duration: 5m, flags: [DAILY]}}\n"    \
    "  revisionHistoryLimit: 7\n"                                                                  \
    "  persistentVolumeClaimRetentionPolicy: {whenDeleted: Delete, whenScaled: Delete}\n"          \
    "  minReadySeconds: 9\n"                                                                       \
    "  ordinalPadding: 3\n"                                                                        \
    "  pinToNode: true\n"                                                                          \
    "  workloadDisruptionProtection: false\n"                                                      \
    "  pruneSlurmNodeRecords: NodeNotFound\n"                                                      \
    "  oversubscribeNode: true\n"
#define NODESET_OF(name, uid)                                                                      \
    "---\napiVersion: slinky.slurm.net/v1beta1\nkind: NodeSet\n"                                   \
    "metadata: {name: " name ", namespace: slurm, uid: " uid ", generation: 3, annotations: {a: "  \
    "b}, labels: {c: d}, creationTimestamp: '2026-01-09T10:00:00Z'}\n"
#define CLUSTER                                                                                    \
    "kind: Controller\nmetadata: {name: c, namespace: slurm, uid: u0}\nspec: {}\n" NODESET_OF(     \
        "a", "u1")                                                                                 \
        FULL NODESET_OF("b", "u2") "spec: {controllerRef: {name: c}}\n" NODESET_OF(                \
            "d", "u3") "spec: {controllerRef: {name: c}, partition: {enabled: false}}\n"

/* Every row of the table is set, at every depth. */
static void assert_full(const struct jsn_field *fields, const struct jsn *v)
{
    for (const struct jsn_field *f = fields; f->kind != JSN_NOTHING; f++) {
        const struct jsn *value = jsn_get(v, f->path);

        if (!value)
            fail_msg("the field %s is new: set it in FULL, to what is not its default", f->path);
        if (f->kind == JSN_SUB)
            assert_full(f->sub, value);
        if (f->kind == JSN_SUBS)
            assert_full(f->sub, jsn_item(value, 0));
    }
}

static void the_sample_sets_every_field(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    const struct jsn *full = yaml_of(&a, FULL);

    (void)state;
    for (const struct jsn_field *f = nodeset_fields; f->kind != JSN_NOTHING; f++)
        if (streq(f->path, "spec"))
            assert_full(f->sub, jsn_key(full, "spec"));
}

/* All that is built from the NodeSets of a cluster together. */
static void build_all(struct arena *a, struct test_cluster *t, struct buf *out)
{
    struct api_problems p = {.arena = a};
    struct build_config c;

    assert_int_equal(build_config(a, &t->cluster, &c, &p), 0);
    for (size_t i = 0; i < c.n; i++)
        buf_printf(out, "%s\n%s", c.files[i].name, c.files[i].text);
    buf_adds(out, lines_of(a, &p));
    jsn_print(out, build_workers_service(a, &t->cluster));
    jsn_print(out, build_workers_pdb(a, &t->cluster));
}

static void nodesets_in_short_give_the_same(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    AUTO(buf_done) struct buf whole = {0};
    AUTO(buf_done) struct buf brief = {0};
    struct test_cluster t = {0};

    (void)state;
    cluster_of(&a, &t, SERIES(25, 5), CLUSTER);
    build_all(&a, &t, &whole);
    for (size_t i = 0; i < t.cluster.n_nodesets; i++) {
        struct nodeset copy = t.nodesets[i];

        nodeset_brief(&a, &copy, &t.nodesets[i]);
    }
    build_all(&a, &t, &brief);
    assert_string_equal(buf_str(&whole), buf_str(&brief));
    assert_non_null(strstr(buf_str(&brief), "PartitionName=gpu Nodes=gpu MaxTime=7 State=DRAIN\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sample_sets_every_field),
        cmocka_unit_test(nodesets_in_short_give_the_same),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
