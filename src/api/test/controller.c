/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of the kind Controller: decoding, the names that follow, what is refused. */
#include "src/api/test/objects.h"

#include "src/api/controller.h"
#include "src/api/test/lookup_over.h"
#include "src/slurm/profile.h"

static struct controller controller_of(struct arena *a, const char *name, const char *spec)
{
    struct controller c;
    struct err e = {0};

    if (controller_decode(a, ours_of(a, "Controller", name, spec), &c, &e) < 0)
        fail_msg("%s", e.text);
    return c;
}

static void an_empty_controller_has_everything_it_needs(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct controller c = controller_of(&a, "main", "  {}");
    struct api_key_ref slurm = controller_slurm_key(&a, &c);
    struct api_key_ref jwt = controller_jwt_key(&a, &c);

    (void)state;
    assert_string_equal(controller_cluster_name(&a, &c), "slurm_main");
    assert_string_equal(slurm.name, "main-auth-slurm");
    assert_string_equal(slurm.key, "slurm.key");
    assert_string_equal(jwt.name, "main-auth-jwt");
    assert_string_equal(jwt.key, "jwt.key");
    assert_true(controller_makes_slurm_key(&c) && controller_makes_jwt_key(&c));
    assert_true(c.spec.inplace_reconfigure);
    assert_true(c.spec.persistence.enabled);
    assert_false(c.spec.external || c.spec.ha.enabled || c.spec.metrics.enabled);
    assert_int_equal(controller_replicas(&c), 1);
    assert_int_equal(controller_release(&c), 0);
}

static void every_field_is_decoded(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct controller c = controller_of(
        &a, "main",
        "  clusterName: hpc\n"
        "  slurmKeyRef: {name: keys, key: s}\n"
        "  jwtHs256KeyRef: {name: keys, key: j}\n"
        "  jwksKeyRef: {name: jwks, key: f}\n"
        "  accountingRef: {name: acct}\n"
        "  ha: {enabled: true, backups: 2}\n"
        "  slurmctld: {image: 'example/slurmctld:25.05-ubuntu24.04'}\n"
        "  inplaceReconfigure: false\n"
        "  template: {metadata: {labels: {a: b}}, spec: {nodeSelector: {x: z}}}\n"
        "  extraConf: |\n    ReturnToService=2\n"
        "  configFileRefs: [{name: files}]\n"
        "  prologScriptRefs: [{name: p}]\n  epilogScriptRefs: [{name: e}]\n"
        "  prologSlurmctldScriptRefs: [{name: pc}]\n  epilogSlurmctldScriptRefs: [{name: ec}]\n"
        "  persistence: {existingClaim: shared, accessModes: [ReadWriteMany]}\n"
        "  service: {port: 7000, nodePort: 30017, spec: {type: NodePort}}\n"
        "  metrics:\n    enabled: true\n"
        "    serviceMonitor: {enabled: true, interval: 30s, endpoints: [{path: /metrics/jobs}]}\n");
    struct controller_ref_list lists[CONTROLLER_REF_LISTS];

    (void)state;
    assert_string_equal(controller_cluster_name(&a, &c), "hpc");
    assert_string_equal(controller_slurm_key(&a, &c).key, "s");
    assert_string_equal(controller_jwt_key(&a, &c).key, "j");
    assert_false(controller_makes_slurm_key(&c) || controller_makes_jwt_key(&c));
    assert_string_equal(c.spec.jwks_key_ref->name, "jwks");
    assert_string_equal(c.spec.accounting_ref->name, "acct");
    assert_int_equal(controller_replicas(&c), 3);
    assert_int_equal(controller_release(&c), SERIES(25, 5));
    assert_false(c.spec.inplace_reconfigure);
    assert_string_equal(jsn_map_get(&c.spec.template.metadata.labels, "a"), "b");
    assert_string_equal(jsn_get_str(c.spec.template.spec, "nodeSelector.x"), "z");
    assert_string_equal(c.spec.extra_conf, "ReturnToService=2\n");
    controller_ref_lists(&c, lists);
    for (size_t i = 0; i < CONTROLLER_REF_LISTS; i++)
        assert_int_equal(lists[i].refs->n, 1);
    assert_string_equal(lists[3].option, "Prolog");
    assert_string_equal(lists[3].refs->items[0].name, "p");
    assert_string_equal(c.spec.persistence.existing_claim, "shared");
    assert_string_equal(c.spec.persistence.access_modes.items[0], "ReadWriteMany");
    assert_int_equal(c.spec.service.port, 7000);
    assert_int_equal(c.spec.service.node_port, 30017);
    assert_true(c.spec.metrics.enabled && c.spec.metrics.monitor.enabled);
    assert_string_equal(c.spec.metrics.monitor.endpoints.items[0].path, "/metrics/jobs");
}

static void the_annotation_names_the_release_before_the_image(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct jsn *v = ours_of(&a, "Controller", "c", "  slurmctld: {image: 'x/slurmctld:24.05'}");
    struct controller c;

    (void)state;
    jsn_set(&a, jsn_ensure_object(&a, jsn_key(v, "metadata"), "annotations"),
            API_RELEASE_ANNOTATION, jsn_string(&a, "22.05.8"));
    assert_int_equal(controller_decode(&a, v, &c, NULL), 0);
    assert_int_equal(controller_release(&c), RELEASE(22, 5, 8));
}

static void a_policy_for_drift_that_there_is_not_is_told(void **state)
{
    static const struct {
        const char *policy;
        const char *lines;
    } cases[] = {
        {"Report", ""},
        {"Revert", ""},
        {"revert", "warning: metadata.annotations[slurmkeeper.dev/drift-policy]: \"revert\" is not "
                   "Report or Revert: taken for Report\n"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct api_problems p = {.arena = &a};
        struct jsn *v = ours_of(&a, "Controller", "c", "  {}");
        struct controller c;

        jsn_set(&a, jsn_ensure_object(&a, jsn_key(v, "metadata"), "annotations"),
                API_DRIFT_ANNOTATION, jsn_string(&a, cases[i].policy));
        assert_int_equal(controller_decode(&a, v, &c, NULL), 0);
        controller_check(&c, controller_release(&c), &p);
        assert_string_equal(lines_of(&a, &p), cases[i].lines);
    }
}

static void bad_controllers_are_refused_with_a_reason(void **state)
{
    static const struct {
        const char *name;
        const char *spec;
        const char *lines;
    } cases[] = {
        {"ok", "  {}", ""},
        {"a2345678901234567890123456789012345678901", "  {clusterName: x}", ""},
        {"a23456789012345678901234567890123456789012", "  {clusterName: x}",
         "metadata.name: may have 41 characters, so that the names of what is made from it fit\n"},
        {"1st", "  {}",
         "metadata.name: a name must begin with a letter, since Services are named after it\n"},
        {"a-name-that-is-not-too-long-for-itself", "  {}",
         "spec.clusterName: Slurm allows 40 characters; without clusterName it is made of "
         "namespace "
         "and name, so set a shorter one\n"},
        {"c", "  {clusterName: 'a/b'}",
         "spec.clusterName: a cluster name may hold only letters, digits, '-', '_' and '.'\n"},
        {"c", "  {slurmKeyRef: {key: k}}",
         "spec.slurmKeyRef.name: must name an object of this namespace\n"},
        {"c", "  {jwtKeyRef: {name: A_B, key: 'a b'}}",
         "spec.jwtKeyRef.name: a name may hold only a-z, 0-9, '-' and '.'\n"
         "spec.jwtKeyRef.key: a key may hold only letters, digits, '-', '_' and '.'\n"},
        {"c", "  {jwtHs256KeyRef: {name: a, key: b}}",
         "warning: spec.jwtHs256KeyRef: is an older name; write jwtKeyRef\n"},
        {"c", "  {external: true, slurmKeyRef: {name: a, key: b}}",
         "spec.externalConfig: must say where slurmctld is, since external is true\n"},
        {"c", "  {external: true, externalConfig: {host: '', port: 1}}",
         "warning: spec.slurmKeyRef: an external slurmctld has a key of its own: without a "
         "reference to it nobody here can talk to it\n"
         "spec.externalConfig.host: must be the host name or address of slurmctld\n"},
        {"c", "  {ha: {enabled: true}}",
         "spec.persistence.existingClaim: ha needs an existing claim with access mode "
         "ReadWriteMany\n"},
        {"c", "  {ha: {enabled: true}, persistence: {enabled: false, existingClaim: x}}",
         "spec.persistence.enabled: ha needs state that all slurmctlds share: set it to true\n"},
        {"c", "  {ha: {enabled: true}, persistence: {existingClaim: x}}", ""},
        {"c", "  {accountingRef: {}}",
         "spec.accountingRef.name: must name an object of this namespace\n"},
        {"c", "  {configFileRefs: [{name: a}, {name: a}], prologScriptRefs: [{}]}",
         "spec.configFileRefs[1].name: stands twice\n"
         "spec.prologScriptRefs[0].name: must name an object of this namespace\n"},
        {"c", "  {service: {spec: {externalIPs: [10.0.0.1]}}}",
         "warning: spec.service.spec.externalIPs: is ignored: it would let this namespace take "
         "traffic of others\n"},
        {"c", "  {metrics: {enabled: true}, slurmctld: {image: 'x:22.05'}}",
         "warning: spec.metrics.enabled: is ignored: slurmctld has metrics from Slurm 25.11 on\n"},
        {"c",
         "  {metrics: {enabled: true, serviceMonitor: {enabled: true, endpoints: [{path: x}]}}}",
         "spec.metrics.serviceMonitor.endpoints[0].path: must begin with '/'\n"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct api_problems p = {.arena = &a};
        struct controller c = controller_of(&a, cases[i].name, cases[i].spec);

        controller_check(&c, controller_release(&c), &p);
        assert_string_equal(lines_of(&a, &p), cases[i].lines);
    }
}

static void what_holds_the_state_cannot_change(void **state)
{
    static const struct {
        const char *from;
        const char *to;
        const char *fields; /* of the problems */
    } cases[] = {
        {"  {}", "  {extraConf: 'A=1'}", ""},
        {"  {}", "  {extraConf: 'AuthType=auth/munge'}", "spec.extraConf: AuthType "},
        {"  {}", "  {clusterName: slurm_c}", ""},
        {"  {}", "  {clusterName: other}", "spec.clusterName "},
        {"  {}", "  {slurmKeyRef: {name: c-auth-slurm, key: slurm.key}}", ""},
        {"  {}", "  {slurmKeyRef: {name: mine, key: slurm.key}}", "spec.slurmKeyRef "},
        {"  {jwtHs256KeyRef: {name: a, key: b}}", "  {jwtKeyRef: {name: a, key: b}}", ""},
        {"  {jwtKeyRef: {name: a, key: b}}", "  {jwtKeyRef: {name: a, key: c}}", "spec.jwtKeyRef "},
        {"  {}", "  {persistence: {enabled: false}}", "spec.persistence.enabled "},
        {"  {}", "  {persistence: {existingClaim: x}}", "spec.persistence.existingClaim "},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        AUTO(buf_done) struct buf fields = {0};
        struct api_problems p = {.arena = &a};
        struct controller old = controller_of(&a, "c", cases[i].from);
        struct controller c = controller_of(&a, "c", cases[i].to);

        controller_check_update(&c, &old, &p);
        for (size_t k = 0; k < p.n; k++) {
            assert_int_equal(p.items[k].reason, API_FORBIDDEN);
            buf_printf(&fields, "%s ", p.items[k].field);
        }
        assert_string_equal(buf_str(&fields), cases[i].fields);
    }
}

static void references_are_followed(void **state)
{
    static const char others[] =
        "{kind: ConfigMap, metadata: {name: good, namespace: slurm}, data: {gres.conf: x}}\n---\n"
        "{kind: ConfigMap, metadata: {name: same, namespace: slurm}, data: {gres.conf: y}}\n---\n"
        "{kind: ConfigMap, metadata: {name: odd, namespace: slurm}, data: {notes.txt: y}}\n---\n"
        "{kind: ConfigMap, metadata: {name: bad, namespace: slurm}, data: {slurm.conf: z}}\n---\n"
        "{kind: ConfigMap, metadata: {name: key, namespace: slurm}, binaryData: {jwt.key: eA==}}\n"
        "---\n"
        "{kind: ConfigMap, metadata: {name: script, namespace: slurm}, data: {go.sh: z}}\n---\n"
        "{kind: PersistentVolumeClaim, metadata: {name: one, namespace: slurm}, spec: "
        "{accessModes: [ReadWriteOnce]}}\n---\n"
        "{kind: PersistentVolumeClaim, metadata: {name: many, namespace: slurm}, spec: "
        "{accessModes: [ReadWriteMany]}}\n";
    static const struct {
        const char *spec;
        const char *lines;
    } cases[] = {
        {"  {configFileRefs: [{name: good}], prologScriptRefs: [{name: script}]}", ""},
        {"  {configFileRefs: [{name: none}]}",
         "spec.configFileRefs[0].name: there is no ConfigMap none in namespace slurm; create it "
         "first\n"},
        {"  {epilogScriptRefs: [{name: none}]}",
         "spec.epilogScriptRefs[0].name: there is no ConfigMap none in namespace slurm; create it "
         "first\n"},
        {"  {configFileRefs: [{name: bad}]}",
         "spec.configFileRefs[0].name: ConfigMap bad has a key slurm.conf, which is made by the "
         "operator; use extraConf\n"},
        {"  {configFileRefs: [{name: key}]}",
         "spec.configFileRefs[0].name: ConfigMap key has a key jwt.key, which is made by the "
         "operator\n"},
        {"  {configFileRefs: [{name: odd}]}", "warning: spec.configFileRefs[0].name: ConfigMap "
                                              "odd: Slurm does not read a file notes.txt "
                                              "by itself\n"},
        {"  {configFileRefs: [{name: good}, {name: same}]}",
         "spec.configFileRefs[1].name: ConfigMaps good and same both have a key gres.conf, and "
         "they "
         "become files of one directory\n"},
        {"  {prologScriptRefs: [{name: script}], epilogScriptRefs: [{name: script}]}", ""},
        {"  {slurmKeyRef: {name: s, key: k}, jwtKeyRef: {name: j, key: k, optional: true}}",
         "warning: spec.slurmKeyRef.name: there is no Secret s in namespace slurm yet\n"},
        {"  {accountingRef: {name: acct}}",
         "warning: spec.accountingRef.name: there is no Accounting acct in namespace slurm yet\n"},
        {"  {ha: {enabled: true}, persistence: {existingClaim: one}}",
         "spec.persistence.existingClaim: ha needs a claim with access mode ReadWriteMany\n"},
        {"  {ha: {enabled: true}, persistence: {existingClaim: many}}", ""},
        {"  {persistence: {existingClaim: one}}", ""},
        {"  {persistence: {existingClaim: none}}",
         "warning: spec.persistence.existingClaim: there is no PersistentVolumeClaim none in "
         "namespace slurm yet\n"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct api_problems p = {.arena = &a};
        struct controller c = controller_of(&a, "c", cases[i].spec);
        struct api_lookup l = api_lookup_over(yamls_of(&a, others));

        controller_check_refs(&c, NULL, &p);
        assert_int_equal(p.n, 0);
        controller_check_refs(&c, &l, &p);
        assert_string_equal(lines_of(&a, &p), cases[i].lines);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_controller_has_everything_it_needs),
        cmocka_unit_test(every_field_is_decoded),
        cmocka_unit_test(the_annotation_names_the_release_before_the_image),
        cmocka_unit_test(a_policy_for_drift_that_there_is_not_is_told),
        cmocka_unit_test(bad_controllers_are_refused_with_a_reason),
        cmocka_unit_test(what_holds_the_state_cannot_change),
        cmocka_unit_test(references_are_followed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
