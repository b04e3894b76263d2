/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of rendering: manifests in, files out, errors with their documents. */
#include "src/build/test/clusters.h"

#include "src/base/clock.h"
#include "src/build/render_kinds.h"

static struct render_result render(struct arena *a, const char *yaml, struct api_problems *p)
{
    struct build_env env = {.release = SERIES(25, 5)};
    struct jsn *all = yamls_of(a, yaml);
    struct render_doc *docs = arena_calloc(a, jsn_len(all) + 1, sizeof(*docs));
    struct render_result result;
    size_t n = 0;

    JSN_FOR_ITEMS (doc, all) {
        docs[n].object = doc;
        docs[n].place = arena_printf(a, "f.yaml, document %zu", n + 1);
        n++;
    }
    render_manifests(a, &env, docs, n, &result, p);
    return result;
}

static void two_clusters_make_two_sets_of_files(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct api_problems p = {.arena = &a};
    struct render_result r =
        render(&a,
               "apiVersion: slinky.slurm.net/v1beta1\nkind: NodeSet\n"
               "metadata: {name: w, namespace: two}\nspec: {controllerRef: {name: c}}\n---\n"
               "apiVersion: slinky.slurm.net/v1beta1\nkind: Controller\n"
               "metadata: {name: c, namespace: two}\n---\n"
               "apiVersion: v1\nkind: List\nitems:\n"
               "- {apiVersion: slinky.slurm.net/v1beta1, kind: Controller, metadata: {name: c}}\n"
               "- {apiVersion: v1, kind: Pod, metadata: {name: x}}\n",
               &p);

    (void)state;
    assert_string_equal(lines_of(&a, &p), "");
    assert_int_equal(r.n, 2);
    assert_string_equal(r.clusters[0].name, "two/c");
    assert_string_equal(r.clusters[1].name, "default/c");
    assert_non_null(
        strstr(build_config_file(&r.clusters[0].config, "slurm.conf"), "NodeSet=w Feature=w\n"));
    assert_null(strstr(build_config_file(&r.clusters[1].config, "slurm.conf"), "NodeSet="));
}

static void errors_name_their_documents(void **state)
{
#define OURS "apiVersion: slinky.slurm.net/v1beta1\nkind: "
    static const struct {
        const char *yaml;
        const char *lines;
    } cases[] = {
        {"5\n", "f.yaml, document 1: is not an object\n"},
        {"{kind: X}\n", "f.yaml, document 1: apiVersion: must be there\n"},
        {OURS "NodeSet\nmetadata: {name: n}\n",
         "f.yaml, document 1: metadata.name: is not a string; put it in quotes\n"},
        {OURS "Controller\n", "f.yaml, document 1: metadata.name: must be there\n"},
        {OURS "NodeSett\nmetadata: {name: a}\n",
         "warning: f.yaml, document 1: NodeSett default/a: kind: slinky.slurm.net/v1beta1 has no "
         "kind NodeSett; it is left out\n"},
        {"apiVersion: slinky.slurm.net/v1alpha1\nkind: NodeSet\nmetadata: {name: a}\n",
         "f.yaml, document 1: NodeSet default/a: apiVersion: slinky.slurm.net/v1alpha1 is not "
         "served; write slinky.slurm.net/v1beta1\n"},
        {OURS "NodeSet\nmetadata: {name: a}\nspec: {controllerRef: {name: c}}\n",
         "f.yaml, document 1: NodeSet default/a: spec.controllerRef.name: there is no Controller c "
         "in namespace default among the manifests\n"},
        {OURS "Controller\nmetadata: {name: c}\nspec: {extraConfig: x}\n",
         "f.yaml, document 1: Controller default/c: spec.extraConfig: there is no such field\n"},
        {OURS "Controller\nmetadata: {name: c}\nspec: {external: 5}\n",
         "f.yaml, document 1: Controller default/c: spec.external: 5 is not true or false\n"},
        {OURS "Controller\nmetadata: {name: c}\n---\n" OURS "NodeSet\nmetadata: {name: a}\n"
              "spec: {controllerRef: {name: c}, partition: {config: 'Stat=UP'}}\n",
         "f.yaml, document 2: NodeSet default/a: spec.partition.config: partition a: unknown key "
         "Stat; did you mean State?\n"},
        {OURS "Controller\nmetadata: {name: c}\nspec: {extraConf: 'Foo=1'}\n",
         "f.yaml, document 1: Controller default/c: spec.extraConf: line 1: unknown key Foo\n"},
        {OURS "Controller\nmetadata: {name: c}\n---\n" OURS "Controller\nmetadata: {name: c}\n",
         "warning: f.yaml, document 2: Controller default/c: stands in f.yaml, document 1, too; "
         "this one counts\n"},
        {OURS "Controller\nmetadata: {name: c}\nspec: {configFileRefs: [{name: x}]}\n",
         "f.yaml, document 1: Controller default/c: spec.configFileRefs[0].name: there is no "
         "ConfigMap x in namespace default\n"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct api_problems p = {.arena = &a};

        (void)render(&a, cases[i].yaml, &p);
        assert_string_equal(lines_of(&a, &p), cases[i].lines);
    }
}

static void the_examples_render_without_a_word(void **state)
{
    static const char *const files[] = {
        "quickstart", "extraconf-partitions", "gpu-nodes", "images", "restapi", "accounting"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        AUTO(arena_done) struct arena a = {0};
        AUTO(free) char *text = NULL;
        struct api_problems p = {.arena = &a};
        struct err e = {0};
        size_t n;

        if (file_read(arena_printf(&a, "%s/examples/%s.yaml", SOURCE_ROOT, files[i]),
                      (size_t)1 << 20, &text, &n, &e) < 0)
            fail_msg("%s", e.text);
        assert_int_equal(render(&a, text, &p).n, 1);
        assert_string_equal(lines_of(&a, &p), "");
    }
}

/* Not a measurement: it catches what grows with the square. */
static void a_thousand_nodesets_are_no_matter(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    AUTO(buf_done) struct buf yaml = {0};
    struct api_problems p = {.arena = &a};
    struct render_result r;
    int64_t start;

    (void)state;
    buf_adds(&yaml, OURS "Controller\nmetadata: {name: c}\n");
    for (int i = 0; i < 1000; i++)
        buf_printf(&yaml,
                   "---\n" OURS "NodeSet\nmetadata:\n  name: n%d\nspec:\n  controllerRef:\n"
                   "    name: c\n  replicas: 8\n  partition:\n    config: MaxTime=%d\n",
                   i, i + 1);
    start = clock_mono_ms();
    r = render(&a, buf_str(&yaml), &p);
    assert_true(clock_mono_ms() - start < 5000);
    assert_string_equal(lines_of(&a, &p), "");
    assert_non_null(strstr(build_config_file(&r.clusters[0].config, "slurm.conf"),
                           "PartitionName=n999 Nodes=n999 MaxTime=1000\n"));
}

static void every_kind_is_rendered_or_passed_over(void **state)
{
    (void)state;
    for (size_t i = 0; i < API_N_KINDS; i++) {
        assert_non_null(render_kinds[i]->take);
        assert_non_null(render_kinds[i]->settle);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_clusters_make_two_sets_of_files),
        cmocka_unit_test(errors_name_their_documents),
        cmocka_unit_test(the_examples_render_without_a_word),
        cmocka_unit_test(a_thousand_nodesets_are_no_matter),
        cmocka_unit_test(every_kind_is_rendered_or_passed_over),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
