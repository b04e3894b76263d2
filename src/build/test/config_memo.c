/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of the remembered configuration: it is the one that would be made, or is made again.
 */
#include "src/base/test/unit.h"

#include "src/build/config_memo.h"
#include "src/build/test/clusters.h"
#include "src/build/workers.h"

#define RELEASE_USED RELEASE(22, 5, 8)

static const char yaml[] =
    "kind: Controller\nmetadata: {name: c, namespace: slurm, uid: u1, generation: 1}\n"
    "spec: {configFileRefs: [{name: files}], accountingRef: {name: nil}}\n"
    "---\nkind: ConfigMap\nmetadata: {name: files, namespace: slurm}\ndata: {gres.conf: "
    "'AutoDetect=off'}\n"
    "---\nkind: NodeSet\nmetadata: {name: a, namespace: slurm, uid: u2, generation: 1}\n"
    "spec: {controllerRef: {name: c}, partition: {enabled: true}}\n"
    "---\nkind: Partition\nmetadata: {name: p, namespace: slurm, uid: u3, generation: 1}\n"
    "spec: {controllerRef: {name: c}, nodeSetRefs: [{name: a}], maxTime: 10}\n"
    "---\nkind: Partition\nmetadata: {name: bad, namespace: slurm, uid: u4, generation: 1}\n"
    "spec: {controllerRef: {name: c}, nodes: nobody, maxTime: 10}\n";

static struct build_config build(struct arena *a, struct test_cluster *t, struct config_memo *memo,
                                 struct api_problems *p, int *ret)
{
    struct build_config config;

    t->cluster.memo = memo;
    *p = (struct api_problems){.arena = a};
    *ret = build_config(a, &t->cluster, &config, p);
    return config;
}

/* With the memo it must be the very same as without. */
static void assert_same(struct test_cluster *t, struct config_memo *memo)
{
    AUTO(arena_done) struct arena a = {0};
    struct api_problems p[2];
    struct build_config c[2];
    int r[2];

    for (size_t i = 0; i < t->cluster.n_partitions; i += 2) /* the others have none */
        t->partitions[i].digest = config_memo_digest(&t->partitions[i]);
    c[0] = build(&a, t, NULL, &p[0], &r[0]);
    c[1] = build(&a, t, memo, &p[1], &r[1]);
    assert_int_equal(r[0], r[1]);
    assert_string_equal(c[0].hash, c[1].hash);
    assert_int_equal(c[0].n, c[1].n);
    assert_string_equal(build_config_file(&c[0], "slurm.conf"),
                        build_config_file(&c[1], "slurm.conf"));
    for (unsigned line = 1; line < 60; line++)
        assert_true(streq(build_config_origin(&c[0], line)->object,
                          build_config_origin(&c[1], line)->object));
    assert_int_equal(p[0].n, p[1].n);
    assert_int_equal(p[0].errors, p[1].errors);
    for (size_t i = 0; i < p[0].n; i++) {
        assert_string_equal(p[0].items[i].text, p[1].items[i].text);
        assert_true(streq(p[0].items[i].object, p[1].items[i].object));
        assert_int_equal(p[0].items[i].reason, p[1].items[i].reason);
    }
}

static void the_same_cluster_gets_the_same_configuration(void **state)
{
    AUTO(config_memo_free) struct config_memo *memo = config_memo_new();
    AUTO(arena_done) struct arena a = {0};
    struct test_cluster t = {0};

    (void)state;
    cluster_of(&a, &t, RELEASE_USED, yaml);
    assert_same(&t, memo);
    assert_same(&t, memo);
    assert_same(&t, memo);
}

static void it_is_not_made_twice(void **state)
{
    AUTO(config_memo_free) struct config_memo *memo = config_memo_new();
    AUTO(arena_done) struct arena a = {0};
    struct test_cluster t = {0};
    struct build_config config;
    struct api_problems p = {.arena = &a};
    int r = 0;

    (void)state;
    cluster_of(&a, &t, RELEASE_USED, yaml);
    assert_false(config_memo_find(memo, &t.cluster, &a, &config, &p, &r));
    (void)build(&a, &t, memo, &p, &r);
    p = (struct api_problems){.arena = &a};
    assert_true(config_memo_find(memo, &t.cluster, &a, &config, &p, &r));
}

static void whatever_it_follows_from_makes_it_again(void **state)
{
    AUTO(config_memo_free) struct config_memo *memo = config_memo_new();
    AUTO(arena_done) struct arena a = {0};
    struct test_cluster t = {0};
    struct jsn_pair note = {"slurmkeeper.dev/slurm-version", "25.11"};

    (void)state;
    cluster_of(&a, &t, RELEASE_USED, yaml);
    assert_same(&t, memo);
    t.partitions[0].spec.config = "LLN=YES";
    t.partitions[0].meta.generation++;
    assert_same(&t, memo);
    t.partitions[1].status.line = "PartitionName=bad Nodes=a State=UP";
    assert_same(&t, memo);
    t.nodesets[0].spec.replicas = 5000;
    t.nodesets[0].meta.generation++;
    assert_same(&t, memo);
    t.controller.meta.annotations = (struct jsn_map){.items = &note, .n = 1};
    assert_same(&t, memo);
    t.cluster.n_partitions = 1;
    assert_same(&t, memo);
    t.cluster.n_nodesets = 0;
    assert_same(&t, memo);
    t.cluster.lookup = NULL; /* the user's files are not known */
    assert_same(&t, memo);
}

/* One of these at random: what people do to a cluster. */
static void edit(struct arena *a, struct test_cluster *t, size_t all)
{
    static const char *const configs[] = {"LLN=YES", "LLN=MAYBE", "Default=YES",
                                          "",        "Foo=1",     "MaxTime=5"};
    static const char *const nodes[] = {"x[1-4]", "nobody", "x1", "", "x2,x3"};
    static const char *const extras[] = {
        "NodeName=x[1-4] CPUs=1\n", "NodeName=x[1-4] CPUs=1\nPartitionName=q2 Nodes=x1\n",
        "NodeName=x[1-4] CPUs=1\nPartitionName=DEFAULT MaxTime=3\n", "Nonsense\n"};
    struct api_partition *p = &t->partitions[(size_t)random() % all];

    switch (random() % 8) {
    case 0:
        p->spec.nodes = nodes[(size_t)random() % ARRAY_LEN(nodes)];
        break;
    case 1:
        p->spec.config = configs[(size_t)random() % ARRAY_LEN(configs)];
        break;
    case 2: /* one that was made again, of the same name */
        p->meta.uid = arena_printf(a, "again-%ld", random());
        p->meta.generation = 0;
        p->spec.max_time = (struct jsn_int_or_str){.i = (int32_t)(random() % 50), .set = true};
        break;
    case 3:
        p->spec.name = random() % 2 ? "twice" : NULL;
        break;
    case 4:
        t->cluster.n_partitions = (size_t)random() % (all + 1);
        return;
    case 5:
        if (random() % 4 == 0) {
            t->controller.spec.extra_conf = extras[(size_t)random() % ARRAY_LEN(extras)];
            t->controller.meta.generation++;
        }
        return;
    case 6:
        p->status.line = arena_printf(a, "PartitionName=%s Nodes=x1", p->meta.name);
        return;
    default:
        t->nodesets[0].spec.replicas = (int32_t)(random() % 3);
        t->nodesets[0].meta.generation++;
        return;
    }
    p->meta.generation++;
}

static void random_edits_give_what_is_made_from_nothing(void **state)
{
    enum { ALL = 12, STEPS = 1500 };
    AUTO(config_memo_free) struct config_memo *memo = config_memo_new();
    AUTO(arena_done) struct arena a = {0};
    struct test_cluster t = {0};

    (void)state;
    srandom(11);
    cluster_of(&a, &t, RELEASE_USED, yaml);
    t.controller.spec.extra_conf = "NodeName=x[1-4] CPUs=1\n";
    for (size_t i = 0; i < ALL; i++) {
        t.partitions[i] = t.partitions[0];
        t.partitions[i].meta.name = arena_printf(&a, "q%zu", i);
        t.partitions[i].meta.uid = arena_printf(&a, "uid-%zu", i);
        t.parts[i] = &t.partitions[i];
    }
    t.cluster.n_partitions = ALL;
    for (unsigned step = 0; step < STEPS; step++) {
        edit(&a, &t, ALL);
        assert_same(&t, memo);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_cluster_gets_the_same_configuration),
        cmocka_unit_test(it_is_not_made_twice),
        cmocka_unit_test(whatever_it_follows_from_makes_it_again),
        cmocka_unit_test(random_edits_give_what_is_made_from_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
