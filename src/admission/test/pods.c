/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of what ends up in pods: it is refused when it is written. */
#include "src/api/test/objects.h"

#include "src/admission/admission.h"
#include "src/slurm/profile.h"

static const char *told(struct arena *a, const struct jsn *object, const struct jsn *old,
                        bool foreign)
{
    struct api_problems p = {.arena = a};
    struct admission_request in = {
        .object = object, .old = old, .release = RELEASE(22, 5, 8), .foreign_pods = foreign};

    admission_check(&in, &p);
    return lines_of(a, &p);
}

struct row {
    const char *kind;
    const char *spec;
    const char *want;
};

static void check_rows(const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        AUTO(arena_done) struct arena a = {0};
        const char *spec = strcmp(rows[i].kind, "NodeSet") == 0
                               ? arena_printf(&a, "  controllerRef: {name: m}\n  %s", rows[i].spec)
                               : arena_printf(&a, "  %s", rows[i].spec);

        assert_string_equal(told(&a, ours_of(&a, rows[i].kind, "x", spec), NULL, false),
                            rows[i].want);
    }
}

static void types_are_told_under_the_path_that_the_author_wrote(void **state)
{
    static const struct row rows[] = {
        {"NodeSet", "slurmd: {image: {repository: r, tag: t}}",
         "spec.slurmd.image: must be of type string, and is of type object\n"},
        {"NodeSet", "slurmd: {resources: {limits: {cpu: [1]}}}",
         "spec.slurmd: quantities must match the regular expression "
         "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'\n"},
        {"NodeSet", "template: {spec: {hostNetwork: 'yes'}}",
         "spec.template.spec.hostNetwork: must be of type bool, and is of type string\n"},
        {"NodeSet", "template: {spec: {containers: [{name: a, image: {a: b}}]}}",
         "spec.template.spec.containers.image: must be of type string, and is of type object\n"},
        {"NodeSet", "logfile: {env: {A: b}}",
         "spec.logfile.env: must be of type []v1.EnvVar, and is of type object\n"},
        {"Controller", "slurmctld: {image: {repository: r}}",
         "spec.slurmctld.image: must be of type string, and is of type object\n"},
        {"Controller", "service: {spec: {type: [a]}}",
         "spec.service.spec.type: must be of type v1.ServiceType, and is of type array\n"},
        {"Controller", "persistence: {resources: {requests: [4Gi]}}",
         "spec.persistence.resources.requests: must be of type map[string]resource.Quantity, and "
         "is of type array\n"},
    };

    (void)state;
    check_rows(rows, ARRAY_LEN(rows));
}

static void fields_that_a_pod_does_not_have_are_refused(void **state)
{
    static const struct row rows[] = {
        {"NodeSet", "slurmd: {imagePolicy: Always}",
         "spec.slurmd.imagePolicy: there is no such field\n"},
        {"NodeSet", "template: {spec: {volumes: [{name: v, hostpath: {path: /x}}]}}",
         "spec.template.spec.volumes[0].hostpath: there is no such field\n"},
        {"Controller", "slurmctld: {livenessprobe: {periodSeconds: 3}}",
         "spec.slurmctld.livenessprobe: there is no such field\n"},
        {"Controller", "persistence: {storageClass: fast}",
         "spec.persistence.storageClass: there is no such field\n"},
    };

    (void)state;
    check_rows(rows, ARRAY_LEN(rows));
}

static void a_pod_that_could_not_be_made_is_refused(void **state)
{
    static const struct row rows[] = {
        {"NodeSet", "slurmd: {volumeMounts: [{name: gone, mountPath: /x}]}",
         "spec.template.spec: the pod that is made of it would be refused: "
         "spec.containers[0].volumeMounts[0].name: Not found: \"gone\"\n"},
        {"NodeSet", "slurmd: {imagePullPolicy: Sometimes}",
         "spec.template.spec: the pod that is made of it would be refused: "
         "spec.containers[0].imagePullPolicy: Unsupported value: \"Sometimes\": supported values: "
         "\"Always\", \"IfNotPresent\", \"Never\"\n"},
        {"Controller", "template: {spec: {priorityClassName: 'Not A Name'}}",
         "spec.template.spec: the pod that is made of it would be refused: "
         "spec.priorityClassName: Invalid value: \"Not A Name\": a lowercase RFC 1123 subdomain "
         "must consist of lower case alphanumeric characters, '-' or '.', and must start and end "
         "with an alphanumeric character (e.g. 'example.com', regex used for validation is "
         "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')\n"},
    };

    (void)state;
    check_rows(rows, ARRAY_LEN(rows));
}

static void what_a_chart_writes_for_nothing_is_nothing(void **state)
{
    static const struct row rows[] = {
        {"NodeSet",
         "slurmd: {args: [], env: [], volumeMounts: [], resources: {}, lifecycle: null}\n"
         "  template: {spec: {affinity: {}, tolerations: [], initContainers: [], volumes: [], "
         "resources: {}, imagePullSecrets: null, priorityClassName: '', later: {}}}",
         ""},
    };

    (void)state;
    check_rows(rows, ARRAY_LEN(rows));
}

static void a_server_of_somebody_elses_may_know_more_fields(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    const struct jsn *ns = ours_of(&a, "NodeSet", "x",
                                   "  {controllerRef: {name: m}, slurmd: {fancy: {of: tomorrow}}}");

    (void)state;
    assert_string_equal(told(&a, ns, NULL, true),
                        "warning: spec.slurmd.fancy: there is no such field that slurmkeeper "
                        "knows; the API server may drop it\n");
}

static void what_was_accepted_before_does_not_stop_a_scale(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct jsn *old = ours_of(&a, "NodeSet", "x",
                              "  {controllerRef: {name: m}, replicas: 1, slurmd: {image: {a: b}}}");
    struct jsn *now = jsn_clone(&a, old);

    (void)state;
    jsn_set_path(&a, now, "spec.replicas", jsn_int(&a, 2));
    assert_string_equal(told(&a, now, old, false), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_are_told_under_the_path_that_the_author_wrote),
        cmocka_unit_test(fields_that_a_pod_does_not_have_are_refused),
        cmocka_unit_test(a_pod_that_could_not_be_made_is_refused),
        cmocka_unit_test(what_a_chart_writes_for_nothing_is_nothing),
        cmocka_unit_test(a_server_of_somebody_elses_may_know_more_fields),
        cmocka_unit_test(what_was_accepted_before_does_not_stop_a_scale),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
