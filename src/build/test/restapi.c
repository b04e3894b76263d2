/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of slurmrestd's objects: arguments by release, ports, labels. */
#include "src/api/test/objects.h"

#include "src/api/test/lookup_over.h"
#include "src/build/restapi.h"
#include "src/slurm/profile.h"

struct rig {
    struct build_env env;
    struct controller controller;
    struct accounting accounting;
    struct api_lookup lookup;
    struct build_cluster cluster;
    struct restapi r;
};

static void rig_of(struct arena *a, struct rig *t, uint32_t release, const char *controller,
                   const char *spec)
{
    struct err e = {0};

    *t = (struct rig){.env = {.release = release}};
    assert_int_equal(
        controller_decode(a, ours_of(a, "Controller", "m", controller), &t->controller, &e), 0);
    assert_int_equal(restapi_decode(a, ours_of(a, "RestApi", "r", spec), &t->r, &e), 0);
    t->lookup = api_lookup_over(jsn_array(a));
    t->cluster =
        (struct build_cluster){.env = &t->env, .controller = &t->controller, .lookup = &t->lookup};
}

static const struct jsn *container_of(struct arena *a, struct rig *t)
{
    struct api_problems p = {.arena = a};
    const struct jsn *d = build_restapi_deployment(a, &t->cluster, &t->r, &p);

    assert_int_equal(p.n, 0);
    return jsn_item(jsn_get(d, "spec.template.spec.containers"), 0);
}

static const char *words(struct arena *a, const struct jsn *list, const char *key)
{
    AUTO(buf_done) struct buf b = {0};

    JSN_FOR_ITEMS (item, list)
        buf_printf(&b, "%s%s", b.n ? " " : "", key ? jsn_get_str(item, key) : jsn_text(item));
    return arena_strdup(a, buf_str(&b));
}

static void arguments_follow_the_release_and_the_user(void **state)
{
    static const struct {
        uint32_t release;
        const char *spec;
        const char *args;
        const char *env;
    } rows[] = {
        {RELEASE(22, 5, 8), "{controllerRef: {name: m}}", "0.0.0.0:6820",
         "SLURM_JWT SLURMRESTD_SECURITY SLURMRESTD_PLUGINS"},
        {SERIES(24, 11), "{controllerRef: {name: m}}", "-s openapi/slurmctld 0.0.0.0:6820",
         "SLURM_JWT SLURMRESTD_SECURITY"},
        {SERIES(24, 11), "{controllerRef: {name: m}, slurmrestd: {args: []}}",
         "-s openapi/slurmctld 0.0.0.0:6820", "SLURM_JWT SLURMRESTD_SECURITY"},
        {SERIES(24, 11),
         "{controllerRef: {name: m}, slurmrestd: {args: [-vv], env: [{name: A, value: b}]}}",
         "-s openapi/slurmctld -vv 0.0.0.0:6820", "A SLURM_JWT SLURMRESTD_SECURITY"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct rig t;
        const struct jsn *c;

        rig_of(&a, &t, rows[i].release, "  {}", arena_printf(&a, "  %s", rows[i].spec));
        c = container_of(&a, &t);
        assert_string_equal(words(&a, jsn_key(c, "args"), NULL), rows[i].args);
        assert_string_equal(words(&a, jsn_key(c, "env"), "name"), rows[i].env);
        assert_string_equal(jsn_get_str(c, "name"), "slurmrestd");
    }
}

/* Plugins of slurmdbd are there where a slurmdbd is. */
static void with_accounting_all_plugins_are_loaded(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct rig t;

    (void)state;
    rig_of(&a, &t, SERIES(24, 11), "  {accountingRef: {name: acct}}",
           "  {controllerRef: {name: m}}");
    t.accounting.meta = (struct api_meta){.name = "acct", .namespace = "slurm"};
    t.cluster.accounting = &t.accounting;
    assert_string_equal(words(&a, jsn_key(container_of(&a, &t), "args"), NULL), "0.0.0.0:6820");
}

static void a_service_with_ipv6_has_one_socket_for_both(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct rig t;

    (void)state;
    rig_of(&a, &t, SERIES(24, 11), "  {}", "  {controllerRef: {name: m}}");
    t.lookup = api_lookup_over(
        yamls_of(&a, "{kind: Service, metadata: {name: r-restapi, namespace: slurm}, spec: "
                     "{ipFamilies: [IPv4, IPv6]}}"));
    assert_string_equal(words(&a, jsn_key(container_of(&a, &t), "args"), NULL),
                        "-s openapi/slurmctld [::]:6820");
}

static void the_service_is_the_users_with_our_port_and_selector(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct rig t;
    const struct jsn *s;
    const struct jsn *pod;
    struct api_problems p = {.arena = &a};

    (void)state;
    rig_of(
        &a, &t, 0, "  {}",
        "  {controllerRef: {name: m}, service: {port: 80, nodePort: 32500, metadata: {labels: "
        "{a: b, app.kubernetes.io/name: other}, annotations: {c: d}}, spec: {type: NodePort, "
        "externalIPs: [1.2.3.4], "
        "selector: {x: y}, ports: [{name: more, port: 9}]}}, template: {metadata: {labels: {e: f}, "
        "annotations: {g: h}}, spec: {nodeName: m1}}}");
    s = build_restapi_service(&a, &t.r);
    assert_string_equal(words(&a, jsn_get(s, "spec.ports"), "name"), "slurmrestd more");
    assert_int_equal(jsn_get_int(jsn_item(jsn_get(s, "spec.ports"), 0), "port", 0), 80);
    assert_int_equal(jsn_get_int(jsn_item(jsn_get(s, "spec.ports"), 0), "nodePort", 0), 32500);
    assert_null(jsn_get(s, "spec.externalIPs"));
    assert_string_equal(jsn_get_str(s, "spec.type"), "NodePort");
    assert_string_equal(
        jsn_text(jsn_member(jsn_get(s, "metadata.labels"), STR("app.kubernetes.io/name"))),
        "slurmrestd");
    assert_int_equal(jsn_len(jsn_get(s, "spec.selector")), 2);
    assert_string_equal(jsn_get_str(s, "metadata.labels.a"), "b");
    assert_string_equal(jsn_get_str(s, "metadata.annotations.c"), "d");
    pod = jsn_get(build_restapi_deployment(&a, &t.cluster, &t.r, &p), "spec.template");
    assert_string_equal(jsn_get_str(pod, "metadata.labels.e"), "f");
    assert_string_equal(jsn_get_str(pod, "metadata.annotations.g"), "h");
    assert_string_equal(jsn_get_str(pod, "spec.nodeName"), "m1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arguments_follow_the_release_and_the_user),
        cmocka_unit_test(with_accounting_all_plugins_are_loaded),
        cmocka_unit_test(a_service_with_ipv6_has_one_socket_for_both),
        cmocka_unit_test(the_service_is_the_users_with_our_port_and_selector),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
