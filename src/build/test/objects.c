/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of built objects: whole ones against files, and the user's settings laid over them. */
#include "src/build/test/clusters.h"

#include "src/build/controller_app.h"
#include "src/build/controller_config.h"
#include "src/build/controller_service.h"
#include "src/build/labels.h"
#include "src/build/login.h"
#include "src/build/merge.h"
#include "src/build/nodeset_pod.h"
#include "src/build/nodeset_revision.h"
#include "src/build/secrets.h"
#include "src/build/workers.h"

#define CONTROLLER                                                                                 \
    "apiVersion: slinky.slurm.net/v1beta1\nkind: Controller\n"                                     \
    "metadata: {name: main, namespace: slurm, uid: u-1}\nspec:\n"
#define NODESET(name)                                                                              \
    "---\napiVersion: slinky.slurm.net/v1beta1\nkind: NodeSet\nmetadata: {name: " name             \
    ", namespace: slurm, uid: u-" name "}\nspec:\n  controllerRef: {name: main}\n"

static void print(struct buf *b, const struct jsn *object)
{
    if (!object)
        return;
    if (b->n)
        buf_adds(b, "---\n");
    yaml_print(b, object);
}

/* Every object of a cluster with one worker of each NodeSet. */
static const char *all_of(struct arena *a, struct test_cluster *t)
{
    static const unsigned char random[SECRET_KEY_BYTES];
    AUTO(buf_done) struct buf b = {0};
    struct api_problems p = {.arena = a};
    const struct build_cluster *c = &t->cluster;
    struct build_config config;

    assert_int_equal(build_config(a, c, &config, &p), 0);
    print(&b, build_controller_internal(a, c));
    print(&b, build_controller_service(a, c));
    print(&b, build_script_map(a, c, "Prolog"));
    print(&b, build_controller_app(a, c, config.hash, &p));
    print(&b, build_service_monitor(a, c));
    print(&b, build_workers_service(a, c));
    print(&b, build_workers_pdb(a, c));
    assert_string_equal(jsn_get_str(build_config_map(a, c, &config), "metadata.name"),
                        "main-config");
    assert_string_equal(jsn_get_str(build_slurm_secret(a, c, random), "metadata.name"),
                        "main-auth-slurm");
    for (size_t i = 0; i < c->n_nodesets; i++) {
        const struct nodeset *ns = c->nodesets[i];
        struct build_worker w = {.ordinal = 7};
        char hash[REVISION_HASH_LEN];

        revision_hash(revision_data(a, ns, NULL), 0, hash);
        w.hash = hash;
        print(&b, build_revision(a, ns, revision_data(a, ns, NULL), hash, 1));
        print(&b, build_ssh_config(a, ns));
        print(&b, build_worker_pod(a, c, ns, &w, &p));
        JSN_FOR_ITEMS (claim, build_worker_claims(a, c, ns, &w))
            print(&b, claim);
    }
    assert_string_equal(lines_of(a, &p), "");
    return arena_strdup(a, buf_str(&b));
}

static void whole_objects_are_kept_to_the_letter(void **state)
{
    static const struct {
        const char *golden;
        uint32_t release;
        const char *yaml;
    } cases[] = {
        {"plain-22.05.yaml", RELEASE(22, 5, 8), CONTROLLER "  {}\n" NODESET("compute")},
        {"everything-26.05.yaml", SERIES(26, 5),
         CONTROLLER
         "  inplaceReconfigure: false\n  ha: {enabled: true}\n"
         "  slurmctld: {image: 'example/slurmctld:26.05', resources: {limits: {cpu: 2}}}\n"
         "  logfile: {image: 'example/tools:1'}\n"
         "  template:\n    metadata: {labels: {team: hpc}, annotations: {note: x}}\n"
         "    spec: {priorityClassName: high}\n"
         "  configFileRefs: [{name: files}]\n  jwksKeyRef: {name: jwks, key: k}\n"
         "  persistence: {existingClaim: shared}\n"
         "  service: {port: 7000, nodePort: 30017, metadata: {labels: {lb: external}},\n"
         "    spec: {type: NodePort, externalIPs: [10.0.0.1]}}\n"
         "  metrics: {enabled: true, serviceMonitor: {enabled: true, interval: 30s, "
         "scrapeTimeout: 25s, labels: {release: p}, annotations: {note: m}, endpoints: [{path: "
         "/metrics/jobs}, {path: /metrics/nodes, interval: 60s, scrapeTimeout: 50s}]}}\n" NODESET(
             "gpu") "  template:\n    metadata: {labels: {tier: gpu}, annotations: {a: b}}\n"
                    "    spec:\n      hostname: g-\n      nodeSelector: {gpu: 'true'}\n"
                    "      tolerations: [{key: gpu, operator: Exists}]\n"
                    "  slurmd:\n    image: example/slurmd:26.05\n    args: [-vvv]\n"
                    "    resources: {limits: {cpu: 3500m, memory: 8Gi}}\n"
                    "    env: [{name: POD_CPUS, value: '9'}, {name: MORE, value: x}]\n"
                    "    securityContext: {privileged: false}\n"
                    "    readinessProbe: {exec: {command: ['true']}}\n"
                    "  extraConf: gres=gpu:4 Feature=a100,big Weight=5\n  ordinalPadding: 3\n"
                    "  ssh: {enabled: true, sssdConfRef: {name: sssd, key: sssd.conf}, "
                    "extraSshdConfig: 'X "
                    "yes'}\n"
                    "  volumeClaimTemplates: [{metadata: {name: cache, labels: {l: v}}, spec: "
                    "{accessModes: "
                    "[ReadWriteOnce]}}]\n"
                    "  persistentVolumeClaimRetentionPolicy: {whenDeleted: Delete}\n"
                    "---\n{kind: ConfigMap, metadata: {name: files, namespace: slurm}, data: "
                    "{gres.conf: "
                    "'AutoDetect=off'}}\n"
                    "---\n{kind: Secret, metadata: {name: main-auth-slurm, namespace: slurm}, "
                    "data: "
                    "{slurm.key: a2V5}}\n"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct test_cluster t = {0};

        cluster_of(&a, &t, cases[i].release, cases[i].yaml);
        assert_golden(cases[i].golden, all_of(&a, &t));
    }
}

#define LOGINSET                                                                                   \
    "apiVersion: slinky.slurm.net/v1beta1\nkind: LoginSet\n"                                       \
    "metadata: {name: login, namespace: slurm, uid: u-login, annotations: {restart: '1', "         \
    "slurmkeeper.dev/session-grace: '60'}}\nspec:\n  controllerRef: {name: main}\n"                \
    "  sssdConfRef: {name: sssd, key: conf}\n"
#define SSSD                                                                                       \
    "---\n{kind: Secret, metadata: {name: sssd, namespace: slurm}, data: {conf: W3Nzc2RdCg==}}\n"

/* One that may be missing is not waited for. */
static void a_login_waits_for_the_users_that_it_needs(void **state)
{
    static const char login[] = "kind: LoginSet\nmetadata: {name: login, namespace: slurm}\n"
                                "spec: {controllerRef: {name: main}, sssdConfRef: {name: other, "
                                "key: conf, optional: %s}}\n";
    AUTO(arena_done) struct arena a = {0};
    struct test_cluster t = {0};
    struct loginset l;

    (void)state;
    cluster_of(&a, &t, RELEASE(26, 5, 5), CONTROLLER "  {}\n" SSSD);
    assert_int_equal(loginset_decode(&a, yaml_of(&a, arena_printf(&a, login, "false")), &l, NULL),
                     0);
    assert_false(login_has_sssd_conf(&t.cluster, &l));
    assert_int_equal(loginset_decode(&a, yaml_of(&a, arena_printf(&a, login, "true")), &l, NULL),
                     0);
    assert_true(login_has_sssd_conf(&t.cluster, &l));
}

static const char *login_objects(struct arena *a, uint32_t release, const char *controller,
                                 const char *login)
{
    static const struct build_host_keys keys = {{"e", "E", "d", "D", "r", "R"}};
    AUTO(buf_done) struct buf b = {0};
    struct api_problems p = {.arena = a};
    struct test_cluster t = {0};
    struct loginset l;
    struct err e = {0};

    cluster_of(a, &t, release, arena_printf(a, "%s" SSSD, controller));
    if (loginset_decode(a, yaml_of(a, login), &l, &e) < 0)
        fail_msg("%s", e.text);
    assert_true(login_has_sssd_conf(&t.cluster, &l));
    print(&b, build_login_keys(a, &l, &keys));
    print(&b, build_login_config(a, &l));
    print(&b, build_login_service(a, &l));
    print(&b, build_login_app(a, &t.cluster, &l, &p));
    assert_string_equal(lines_of(a, &p), "");
    return arena_strdup(a, buf_str(&b));
}

static void objects_of_a_login_are_kept_to_the_letter(void **state)
{
    AUTO(arena_done) struct arena a = {0};

    (void)state;
    assert_golden("login-22.05.yaml",
                  login_objects(&a, RELEASE(22, 5, 8),
                                CONTROLLER "  configFileRefs: [{name: files}]\n", LOGINSET));
    assert_golden(
        "login-26.05.yaml",
        login_objects(
            &a, SERIES(26, 5), CONTROLLER "  {}\n",
            LOGINSET "  replicas: 2\n  initconf: {image: 'example/alpine:3'}\n"
                     "  login: {image: 'example/login:26.05', env: [{name: A, value: b}], "
                     "ports: [{name: login, containerPort: 2022}], "
                     "securityContext: {privileged: false}}\n"
                     "  template: {metadata: {labels: {team: hpc, app.kubernetes.io/name: x}}, "
                     "spec: {terminationGracePeriodSeconds: 5, dnsConfig: {searches: [a.b]}}}\n"
                     "  rootSshAuthorizedKeys: ssh-ed25519 AAAA me\n"
                     "  extraSshdConfig: Port 2022\n"
                     "  strategy: {type: Recreate}\n"
                     "  service: {port: 2222, nodePort: 30022, metadata: {labels: {lb: external}}, "
                     "spec: {type: NodePort, externalIPs: [10.0.0.1], ports: [{name: web, port: "
                     "80}]}}\n"));
}

static struct jsn *worker_of(struct arena *a, struct test_cluster *t, const struct build_worker *w)
{
    struct api_problems p = {.arena = a};
    struct jsn *pod = build_worker_pod(a, &t->cluster, t->list[0], w, &p);

    assert_int_equal(p.n, 0);
    return pod;
}

static const char *arg_of(struct arena *a, uint32_t release, const char *extra)
{
    struct test_cluster t = {0};

    cluster_of(a, &t, release,
               arena_printf(a, CONTROLLER "  {}\n" NODESET("c") "  extraConf: %s\n", extra));
    return jsn_text(jsn_item(worker_slurmd_args(a, &t.cluster, t.list[0]), 4));
}

static void slurmd_describes_its_node(void **state)
{
    static const struct {
        uint32_t release;
        const char *extra;
        const char *conf;
    } cases[] = {
        {RELEASE(22, 5, 8), "''", "'Features=c'"},
        {RELEASE(22, 5, 8), "Weight=5 features=b,a,c", "'Features=a,b,c Weight=5'"},
        {RELEASE(22, 5, 8), "\"gres=gpu:4\\nWeight=5\"", "'Features=c Gres=gpu:4 Weight=5'"},
        {RELEASE(22, 5, 8), "\"Reason=\\\"it's odd\\\"\"", "'Features=c Reason=\"it'\\''s odd\"'"},
        {RELEASE(22, 5, 8), "nonsense", "'Features=c'"},
        {SERIES(25, 5), "''", "'Features=c'"},
        {SERIES(25, 5), "topology=default:s1", "'Features=c Topology=default:s1'"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};

        assert_string_equal(arg_of(&a, cases[i].release, cases[i].extra), cases[i].conf);
    }
}

/* By the environment: what entry points of images do with arguments is not ours to say. */
/* The pod of a worker has sssd.conf where the Secret is needed, or may be missing and is there. */
static void workers_have_sssd_conf_where_it_is_there(void **state)
{
    static const char secret[] =
        "---\n{kind: Secret, metadata: {name: users, namespace: slurm}, data: {sssd.conf: eA==}}\n";
    static const struct {
        const char *ssh;
        bool there, expected;
    } cases[] = {
        {"{enabled: true, sssdConfRef: {name: users, key: sssd.conf}}", false, true},
        {"{enabled: true, sssdConfRef: {name: users, key: sssd.conf, optional: true}}", false,
         false},
        {"{enabled: true, sssdConfRef: {name: users, key: sssd.conf, optional: true}}", true, true},
        {"{sssdConfRef: {name: users, key: sssd.conf}}", false, false},
        {"{sssdConfRef: {name: users, key: sssd.conf}}", true, true},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct test_cluster t = {0};

        cluster_of(&a, &t, RELEASE(22, 5, 8),
                   arena_printf(&a, "%s  ssh: %s\n%s", CONTROLLER "  {}\n" NODESET("gpu"),
                                cases[i].ssh, cases[i].there ? secret : ""));
        assert_int_equal(build_has_directory(&t.cluster, t.list[0]), cases[i].expected);
    }
}

static void the_topology_of_the_machine_is_in_the_environment(void **state)
{
    static const struct {
        uint32_t release;
        const char *extra;
        bool want;
    } cases[] = {
        {RELEASE(22, 5, 8), "''", false},
        {SERIES(25, 5), "''", true},
        {SERIES(25, 5), "topology=default:s1", false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct test_cluster t = {0};
        const struct jsn *pod;
        bool found = false;

        cluster_of(
            &a, &t, cases[i].release,
            arena_printf(&a, CONTROLLER "  {}\n" NODESET("c") "  extraConf: %s\n", cases[i].extra));
        pod = worker_of(&a, &t, &(struct build_worker){.hash = ""});
        JSN_FOR_ITEMS (env, jsn_key(jsn_item(jsn_get(pod, "spec.containers"), 0), "env"))
            found = found || streq(jsn_get_str(env, "name"), "POD_TOPOLOGY");
        assert_int_equal(found, cases[i].want);
    }
}

#define USUAL                                                                                      \
    "AUDIT_WRITE,CHOWN,DAC_OVERRIDE,FOWNER,FSETID,IPC_LOCK,KILL,NET_BIND_SERVICE,SETGID,SETUID,"   \
    "SYS_CHROOT,SYS_NICE"

static void workers_ask_for_what_slurmd_needs_and_the_nodeset_adds(void **state)
{
    static const struct {
        const char *spec;
        const char *list; /* NULL: privileged, and meant so */
    } cases[] = {
        {"  replicas: 1\n", USUAL},
        {"  slurmd: {securityContext: {privileged: false}}\n", USUAL},
        {"  slurmd: {securityContext: {privileged: true}}\n", NULL},
        {"  slurmd: {securityContext: {capabilities: {add: [ALL]}}}\n", NULL},
        {"  template: {spec: {containers: [{name: slurmd, securityContext: {privileged: "
         "true}}]}}\n",
         NULL},
        {"  slurmd: {securityContext: {capabilities: {add: [SYS_ADMIN]}}}\n", USUAL ",SYS_ADMIN"},
        {"  slurmd: {securityContext: {capabilities: {drop: [ALL], add: [KILL]}}}\n", "KILL"},
        {"  slurmd: {securityContext: {capabilities: {drop: [CAP_SYS_RESOURCE, SYS_NICE, "
         "SYS_CHROOT, "
         "NET_BIND_SERVICE, IPC_LOCK, AUDIT_WRITE]}}}\n",
         "CHOWN,DAC_OVERRIDE,FOWNER,FSETID,KILL,SETGID,SETUID"},
        {"  template: {metadata: {annotations: {confine.slurmkeeper.dev/slurmd: KILL}}}\n", "KILL"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct test_cluster t = {0};
        struct build_worker w = {.ordinal = 0};
        const struct jsn *list;

        cluster_of(&a, &t, 0,
                   arena_printf(&a, CONTROLLER "  {}\n" NODESET("c") "%s", cases[i].spec));
        list = jsn_key(jsn_get(worker_of(&a, &t, &w), "metadata.annotations"),
                       "confine.slurmkeeper.dev/slurmd");
        assert_int_equal(list == NULL, cases[i].list == NULL);
        if (list)
            assert_string_equal(jsn_text(list), cases[i].list);
    }
}

static void pods_of_kubernetes_nodes_have_their_place(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct test_cluster t = {0};
    struct build_worker w = {.ordinal = -1, .node = "n1.example", .hostname = "n1"};
    struct jsn *pod;
    const struct jsn *terms;

    (void)state;
    cluster_of(&a, &t, SERIES(25, 5),
               CONTROLLER "  {}\n" NODESET("d") "  scalingMode: DaemonSet\n"
                                                "  oversubscribeNode: true\n");
    pod = worker_of(&a, &t, &w);
    assert_null(jsn_get(pod, "metadata.name"));
    assert_string_equal(jsn_get_str(pod, "metadata.generateName"), "d-");
    assert_string_equal(jsn_get_str(pod, "spec.hostname"), "n1");
    assert_string_equal(jsn_text(jsn_key(jsn_get(pod, "metadata.labels"), LABEL_SCALING_MODE)),
                        "DaemonSet");
    assert_null(jsn_get(pod, "spec.affinity.podAntiAffinity"));
    terms = jsn_get(pod, "spec.affinity.nodeAffinity."
                         "requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms");
    assert_string_equal(
        jsn_text(jsn_item(
            jsn_get(jsn_item(jsn_get(jsn_item(terms, 0), "matchFields"), 0), "values"), 0)),
        "n1.example");
    assert_string_equal(worker_claim_name(&a, t.list[0], &w, "cache"), "cache-d-n1");
}

static void names_of_workers_are_stable(void **state)
{
    static const struct {
        const char *spec;
        const char *pod;
        const char *host;
    } cases[] = {
        {"  {}", "c-7", "c-7"},
        {"  ordinalPadding: 3\n", "c-007", "c-007"},
        {"  template: {spec: {hostname: gpu-}}\n", "c-7", "gpu-7"},
        {"  ordinalPadding: 2\n  template: {spec: {hostname: gpu}}\n", "c-07", "gpu07"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct test_cluster t = {0};
        struct build_worker w = {.ordinal = 7};

        cluster_of(&a, &t, 0,
                   arena_printf(&a, CONTROLLER "  {}\n" NODESET("c") "%s", i ? cases[i].spec : ""));
        assert_string_equal(worker_pod_name(&a, t.list[0], 7), cases[i].pod);
        assert_string_equal(worker_hostname(&a, t.list[0], &w), cases[i].host);
    }
}

static void what_does_not_show_in_pods_keeps_the_hash(void **state)
{
    static const struct {
        const char *spec;
        bool same;
    } cases[] = {
        {"  replicas: 9\n", true},
        {"  partition: {}\n", true},
        {"  minReadySeconds: 5\n", true},
        {"  slurmd: {image: x}\n", false},
        {"  logfile: {image: x}\n", false},
        {"  extraConf: Weight=1\n", false},
        {"  ordinalPadding: 1\n", false},
        {"  oversubscribeNode: true\n", false},
        {"  template: {metadata: {labels: {a: b}}}\n", false},
        {"  ssh: {enabled: false}\n", false},
    };
    AUTO(arena_done) struct arena a = {0};
    struct test_cluster plain = {0};
    char hash[REVISION_HASH_LEN];
    char other[REVISION_HASH_LEN];

    (void)state;
    cluster_of(&a, &plain, 0, CONTROLLER "  {}\n" NODESET("c"));
    revision_hash(revision_data(&a, plain.list[0], NULL), 0, hash);
    revision_hash(revision_data(&a, plain.list[0], NULL), 1, other);
    assert_string_not_equal(hash, other);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct test_cluster t = {0};

        cluster_of(&a, &t, 0,
                   arena_printf(&a, CONTROLLER "  {}\n" NODESET("c") "%s", cases[i].spec));
        revision_hash(revision_data(&a, t.list[0], NULL), 0, other);
        assert_int_equal(streq(hash, other), cases[i].same);
    }
}

static void hashes_are_those_of_kubernetes(void **state)
{
    char hash[REVISION_HASH_LEN];

    (void)state;
    revision_hash("", 0, hash); /* FNV-1 of "0" is 84696367: letters by c mod 27 */
    assert_string_equal(hash, "d8bfb7bc");
    assert_true(strlen(hash) < REVISION_HASH_LEN);
}

static void texts_are_escaped_as_go_does(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct test_cluster t = {0};

    (void)state;
    cluster_of(&a, &t, 0,
               CONTROLLER "  {}\n" NODESET("c") "  slurmd: {b: 'a<b', a: [1, true, null]}\n");
    assert_string_equal(revision_data(&a, t.list[0], NULL),
                        "{\"spec\":{\"logfile\":{\"$patch\":\"replace\"},\"ordinalPadding\":0,"
                        "\"oversubscribeNode\":false,\"slurmd\":{\"$patch\":\"replace\",\"a\":[1,"
                        "true,null],\"b\":\"a\\u003cb\"},\"template\":{\"$patch\":\"replace\"}}}");
}

static void keys_are_random_and_made_only_where_needed(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct test_cluster t = {0};
    struct test_cluster own = {0};
    unsigned char random[SECRET_KEY_BYTES];
    const struct jsn *value;

    (void)state;
    for (size_t i = 0; i < sizeof(random); i++)
        random[i] = (unsigned char)i;
    cluster_of(&a, &t, 0, CONTROLLER "  {}\n");
    value = jsn_key(jsn_get(build_jwt_secret(&a, &t.cluster, random), "data"), "jwt.key");
    assert_true(starts_with(jsn_text(value), "QUJDREVGR0hJ")); /* ABCDEFGHI */
    assert_int_equal(value->s.n, (SECRET_KEY_BYTES + 2) / 3 * 4);
    cluster_of(&a, &own, 0,
               CONTROLLER "  {slurmKeyRef: {name: a, key: b}, jwtKeyRef: {name: a, key: c}}\n");
    assert_null(build_slurm_secret(&a, &own.cluster, random));
    assert_null(build_jwt_secret(&a, &own.cluster, random));
}

static void annotations_of_the_controller_start_its_pods_anew(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct api_problems p = {.arena = &a};
    struct test_cluster t = {0};
    const struct jsn *annotations;

    (void)state;
    cluster_of(&a, &t, 0,
               "kind: Controller\nmetadata:\n  name: main\n  annotations:\n"
               "    restart-trigger: '1'\n    meta.helm.sh/release-name: x\n"
               "    kubectl.kubernetes.io/last-applied-configuration: '{}'\n"
               "    slurmkeeper.dev/slurm-version: '25.05'\n");
    annotations =
        jsn_get(build_controller_app(&a, &t.cluster, "", &p), "spec.template.metadata.annotations");
    assert_string_equal(jsn_text(jsn_key(annotations, "restart-trigger")), "1");
    assert_string_equal(jsn_text(jsn_member(annotations, STR("slurmkeeper.dev/slurm-version"))),
                        "25.05");
    assert_int_equal(jsn_len(annotations), 5); /* and our own three */
}

static void null_and_empty_lists_are_not_given(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    AUTO(buf_done) struct buf b = {0};
    struct api_problems p = {.arena = &a};
    struct jsn *base = yaml_of(&a, "{name: main, args: [-Z], env: [{name: A, value: x}], "
                                   "resources: {}, volumes: [{name: v, emptyDir: {}}]}");
    struct jsn *user = yaml_of(&a, "{args: [], env: [], volumeMounts: null, command: null, "
                                   "resources: {}, tty: false, workingDir: ''}");

    (void)state;
    jsn_print(&b, merge_container(&a, base, user, "f", &p));
    assert_string_equal(buf_str(&b),
                        "{\"name\":\"main\",\"args\":[\"-Z\"],\"env\":[{\"name\":\"A\","
                        "\"value\":\"x\"}],\"resources\":{},\"volumes\":[{\"name\":"
                        "\"v\",\"emptyDir\":{}}],\"tty\":false,\"workingDir\":\"\"}");
    assert_int_equal(p.n, 0);
}

/* As Slinky's chart writes it for every NodeSet. */
static void a_charts_empty_pod_spec_changes_nothing(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    AUTO(buf_done) struct buf b = {0};
    struct api_problems p = {.arena = &a};
    struct jsn *base = yaml_of(&a, "{containers: [{name: x, args: [a]}], volumes: [{name: v}]}");
    struct jsn *user = yaml_of(&a, "{containers: [{name: x, args: []}], tolerations: [], "
                                   "initContainers: [], volumes: [], imagePullSecrets: null}");

    (void)state;
    jsn_print(&b, merge_pod_spec(&a, base, user, "f", &p));
    assert_string_equal(buf_str(&b), "{\"containers\":[{\"name\":\"x\",\"args\":[\"a\"]}],"
                                     "\"volumes\":[{\"name\":\"v\"}]}");
    assert_int_equal(p.n, 0);
}

static void our_containers_come_first(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    AUTO(buf_done) struct buf b = {0};
    struct api_problems p = {.arena = &a};
    struct jsn *base = yaml_of(&a, "{containers: [{name: x}, {name: v}]}");
    struct jsn *user = yaml_of(&a, "{containers: [{name: z}, {name: v, tty: true}, {name: w}]}");

    (void)state;
    jsn_print(&b, merge_pod_spec(&a, base, user, "f", &p));
    assert_string_equal(buf_str(&b), "{\"containers\":[{\"name\":\"x\"},{\"name\":\"v\",\"tty\":"
                                     "true},{\"name\":\"z\"},{\"name\":\"w\"}]}");
}

static void settings_that_do_not_fit_are_problems(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct api_problems p = {.arena = &a};
    struct jsn *base = yaml_of(&a, "{name: main, env: [{name: A, value: x}]}");
    struct jsn *merged =
        merge_container(&a, base, yaml_of(&a, "{env: [{value: y}]}"), "spec.slurmd", &p);

    (void)state;
    assert_int_equal(p.n, 1);
    assert_string_equal(p.items[0].field, "spec.slurmd");
    assert_true(jsn_equal(merged, base));
}

static void volumes_of_the_user_replace_ours(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    AUTO(buf_done) struct buf b = {0};
    struct api_problems p = {.arena = &a};
    struct jsn *base = yaml_of(&a, "{volumes: [{name: a, emptyDir: {}}, {name: b, emptyDir: {}}], "
                                   "containers: [{name: x, image: i}]}");
    struct jsn *user = yaml_of(&a, "{volumes: [{name: a, hostPath: {path: /x}}, {name: c}], "
                                   "containers: [{name: x, tty: false}, {name: z}]}");

    (void)state;
    jsn_print(&b, merge_pod_spec(&a, base, user, "f", &p));
    assert_string_equal(buf_str(&b),
                        "{\"volumes\":[{\"name\":\"a\",\"hostPath\":{\"path\":\"/x\"}},{\"name\":"
                        "\"c\"},{\"name\":\"b\",\"emptyDir\":{}}],\"containers\":[{\"name\":\"x\","
                        "\"image\":\"i\",\"tty\":false},{\"name\":\"z\"}]}");
    assert_int_equal(p.n, 0);
}

static void older_kubernetes_gets_plain_containers(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct test_cluster t = {.env = {.no_sidecars = true, .policy_v1beta1 = true}};
    struct build_worker w = {.ordinal = 0};
    struct jsn *pod;

    (void)state;
    cluster_of(&a, &t, SERIES(25, 5), CONTROLLER "  {}\n" NODESET("c"));
    pod = worker_of(&a, &t, &w);
    assert_null(jsn_get(pod, "spec.initContainers"));
    assert_int_equal(jsn_len(jsn_get(pod, "spec.containers")), 2);
    assert_null(jsn_get(jsn_item(jsn_get(pod, "spec.containers"), 1), "restartPolicy"));
    assert_string_equal(jsn_get_str(build_workers_pdb(&a, &t.cluster), "apiVersion"),
                        "policy/v1beta1");
}

static const struct jsn *named(const struct jsn *list, const char *name)
{
    JSN_FOR_ITEMS (item, list)
        if (streq(jsn_get_str(item, "name"), name))
            return item;
    return NULL;
}

static const struct jsn *pod_of(struct arena *a, const struct build_cluster *c)
{
    struct api_problems p = {.arena = a};
    const struct jsn *app = build_controller_app(a, c, "hash", &p);

    assert_string_equal(lines_of(a, &p), "");
    return jsn_get(app, "spec.template.spec");
}

/* The chart sets it to slurmctld's, which has no agent. */
static void the_agents_image_is_its_own(void **state)
{
    static const struct {
        const char *annotations;
        const char *image;
    } rows[] = {{"{}", "slurmkeeper/agent:25.11"},
                {"{slurmkeeper.dev/agent-image: 'mine/agent:1'}", "mine/agent:1"}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct test_cluster t = {0};
        const struct jsn *init;

        cluster_of(&a, &t, SERIES(25, 11),
                   arena_printf(&a,
                                "kind: Controller\nmetadata: {name: main, annotations: %s}\n"
                                "spec: {reconfigure: {image: 'slurmctld:25.11'}}\n",
                                rows[i].annotations));
        init = jsn_key(pod_of(&a, &t.cluster), "initContainers");
        assert_string_equal(jsn_get_str(named(init, "reconfigure"), "image"), rows[i].image);
        assert_string_equal(jsn_get_str(named(init, "config-seed"), "image"), rows[i].image);
    }
}

static void the_agent_is_there_unless_it_is_not_wanted(void **state)
{
    static const struct {
        const char *spec;
        bool no_agent;
        const char *program; /* of the container `reconfigure`; NULL: there is none */
        bool has_agent;
    } rows[] = {
        {"  {}\n", false, "slurmkeeper-agent", true},
        {"  {}\n", true, "bash", false},
        {"  inplaceReconfigure: false\n", false, "slurmkeeper-agent", true},
        {"  inplaceReconfigure: false\n", true, NULL, false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        static const struct build_agent_keys keys = {"c", "k", "t"};
        AUTO(arena_done) struct arena a = {0};
        struct test_cluster t = {0};
        const struct jsn *pod;
        const struct jsn *sidecar;

        cluster_of(&a, &t, SERIES(25, 11), arena_printf(&a, CONTROLLER "%s", rows[i].spec));
        t.env.no_agent = rows[i].no_agent;
        pod = pod_of(&a, &t.cluster);
        sidecar = named(jsn_key(pod, "initContainers"), "reconfigure");
        assert_true((sidecar != NULL) == (rows[i].program != NULL));
        if (sidecar)
            assert_string_equal(jsn_text(jsn_item(jsn_key(sidecar, "command"), 0)),
                                rows[i].program);
        assert_true((named(jsn_key(pod, "initContainers"), "config-seed") != NULL) ==
                    rows[i].has_agent);
        assert_true((named(jsn_key(pod, "volumes"), "slurm-live") != NULL) == rows[i].has_agent);
        assert_true((build_agent_secret(&a, &t.cluster, &keys) != NULL) == rows[i].has_agent);
    }
}

static void settings_of_the_sidecar_are_the_agents(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct test_cluster t = {0};
    const struct jsn *list;

    (void)state;
    cluster_of(&a, &t, SERIES(25, 11),
               CONTROLLER "  reconfigure: {imagePullPolicy: Always,\n"
                          "    resources: {limits: {cpu: 1}}, env: [{name: A, value: b}]}\n");
    list = jsn_key(pod_of(&a, &t.cluster), "initContainers");
    assert_string_equal(jsn_get_str(jsn_item(list, 0), "name"), "config-seed");
    assert_string_equal(jsn_get_str(jsn_item(list, 0), "imagePullPolicy"), "Always");
    assert_int_equal(jsn_get_int(named(list, "reconfigure"), "resources.limits.cpu", 0), 1);
}

static void without_sidecars_the_agent_is_a_container_and_its_seed_is_not(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct test_cluster t = {0};
    const struct jsn *pod;

    (void)state;
    cluster_of(&a, &t, SERIES(25, 11), CONTROLLER "  {}\n");
    t.env.no_sidecars = true;
    pod = pod_of(&a, &t.cluster);
    assert_int_equal(jsn_len(jsn_key(pod, "initContainers")), 1);
    assert_non_null(named(jsn_key(pod, "initContainers"), "config-seed"));
    assert_non_null(named(jsn_key(pod, "containers"), "reconfigure"));
    assert_null(jsn_get(named(jsn_key(pod, "containers"), "reconfigure"), "restartPolicy"));
}

/* The paths of a projected volume, each with a blank. */
static void add_paths(const struct jsn *volumes, struct buf *out)
{
    JSN_FOR_ITEMS (source, jsn_get(jsn_item(volumes, 0), "projected.sources")) {
        const char *path = jsn_get_str(jsn_item(jsn_get(source, "secret.items"), 0), "path");

        if (path)
            buf_printf(out, "%s ", path);
    }
}

static void pods_have_the_keys_of_what_is_declared(void **state)
{
    static const struct {
        uint32_t release;
        const char *spec;
        const char *line; /* in slurm.conf */
        const char *keys; /* of a worker */
        bool munge;       /* where nothing is said */
    } cases[] = {
        {RELEASE(22, 5, 8), "  {}\n", "\nAuthType=auth/munge\nCredType=cred/munge\n",
         "munge.key munge.ring "},
        {RELEASE(24, 11, 5), "  {}\n", "\nAuthType=auth/slurm\nCredType=cred/slurm\n",
         "slurm.jwks "},
        {RELEASE(23, 11, 5), "  {}\n", "\nAuthType=auth/slurm\n", "slurm.key key.stage "},
        {RELEASE(24, 11, 5), "  {}\n", "\nAuthInfo=use_client_ids\n", "slurm.jwks "},
        {RELEASE(24, 11, 5), "  extraConf: AuthType=auth/munge\n",
         "\nAuthType=auth/munge\nCredType=cred/munge\n", "munge.key munge.ring "},
        {RELEASE(26, 5, 3), "  {}\n", "\nAuthType=auth/munge\n", "munge.key munge.ring ",
         .munge = true},
        {RELEASE(26, 5, 3), "  extraConf: AuthType=auth/slurm\n", "\nAuthType=auth/slurm\n",
         "slurm.jwks ", .munge = true},
        {RELEASE(26, 5, 3), "  extraConf: authtype=auth/slurm\n",
         "\nAuthType=auth/slurm\nCredType=cred/slurm\n", "slurm.jwks "},
        {RELEASE(26, 5, 3), "  slurmKeyRef: {name: mine, key: keys.jwks}\n",
         "\nAuthType=auth/slurm\n", "slurm.jwks "},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        AUTO(buf_done) struct buf keys = {0};
        struct api_problems p = {.arena = &a};
        struct test_cluster t = {.env.munge = cases[i].munge};
        struct build_config config;
        struct build_worker w = {.ordinal = 0};

        cluster_of(&a, &t, cases[i].release,
                   arena_printf(&a, CONTROLLER "%s" NODESET("gpu"), cases[i].spec));
        assert_int_equal(build_config(&a, &t.cluster, &config, &p), 0);
        assert_non_null(strstr(build_config_file(&config, "slurm.conf"), cases[i].line));
        add_paths(jsn_get(build_worker_pod(&a, &t.cluster, t.list[0], &w, &p), "spec.volumes"),
                  &keys);
        assert_string_equal(buf_str(&keys), cases[i].keys);
    }
}

static void probes_ask_by_http_only_where_it_is_answered(void **state)
{
    static const struct {
        uint32_t release;
        bool no_http;
        const char *spec;
        bool http;
    } cases[] = {
        {RELEASE(25, 5, 8), false, "  {}\n", false},
        {RELEASE(25, 11, 0), false, "  {}\n", true},
        {RELEASE(25, 11, 0), true, "  {}\n", false},
        {RELEASE(26, 5, 3), false,
         "  extraConf: CommunicationParameters=block_null_hash,disable_http\n", false},
        {RELEASE(26, 5, 3), false,
         "  extraConf: 'CommunicationParameters=block_null_hash # disable_http'\n", true},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct api_problems p = {.arena = &a};
        struct test_cluster t = {.env.no_http = cases[i].no_http};
        struct build_worker w = {.ordinal = 0};
        const struct jsn *pods[2];

        cluster_of(&a, &t, cases[i].release,
                   arena_printf(&a, CONTROLLER "%s" NODESET("gpu"), cases[i].spec));
        pods[0] = jsn_get(build_controller_app(&a, &t.cluster, "", &p), "spec.template.spec");
        pods[1] = jsn_get(build_worker_pod(&a, &t.cluster, t.list[0], &w, &p), "spec");
        for (size_t k = 0; k < 2; k++) {
            const struct jsn *main = jsn_item(jsn_key(pods[k], "containers"), 0);

            assert_int_equal(jsn_get(main, "startupProbe.httpGet") != NULL, cases[i].http);
            assert_int_equal(jsn_get(main, "readinessProbe.exec") != NULL, !cases[i].http);
        }
    }
}

/* A hook that a user wants instead of ours takes its place: two in one are refused by the API. */
static void a_restart_of_slurmctld_is_seen_to_where_an_agent_asks(void **state)
{
    static const struct {
        bool no_agent;
        const char *spec;
        const char *key; /* of postStart; NULL: there is none */
    } rows[] = {
        {false, "  {}\n", "exec"},
        {true, "  {}\n", NULL},
        {false, "  slurmctld: {lifecycle: {postStart: {httpGet: {port: 1}}}}\n", "httpGet"},
        {false, "  slurmctld: {lifecycle: {preStop: {sleep: {seconds: 1}}}}\n", "exec"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct api_problems p = {.arena = &a};
        struct test_cluster t = {.env.no_agent = rows[i].no_agent};
        const struct jsn *containers, *hook;

        cluster_of(&a, &t, RELEASE(26, 5, 3), arena_printf(&a, CONTROLLER "%s", rows[i].spec));
        containers =
            jsn_get(build_controller_app(&a, &t.cluster, "", &p), "spec.template.spec.containers");
        hook = jsn_get(jsn_item(containers, 0), "lifecycle.postStart");
        assert_int_equal(jsn_len(hook), rows[i].key ? 1 : 0);
        assert_true(!rows[i].key || jsn_key(hook, rows[i].key));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_restart_of_slurmctld_is_seen_to_where_an_agent_asks),
        cmocka_unit_test(whole_objects_are_kept_to_the_letter),
        cmocka_unit_test(objects_of_a_login_are_kept_to_the_letter),
        cmocka_unit_test(pods_have_the_keys_of_what_is_declared),
        cmocka_unit_test(probes_ask_by_http_only_where_it_is_answered),
        cmocka_unit_test(slurmd_describes_its_node),
        cmocka_unit_test(a_login_waits_for_the_users_that_it_needs),
        cmocka_unit_test(workers_have_sssd_conf_where_it_is_there),
        cmocka_unit_test(the_topology_of_the_machine_is_in_the_environment),
        cmocka_unit_test(workers_ask_for_what_slurmd_needs_and_the_nodeset_adds),
        cmocka_unit_test(pods_of_kubernetes_nodes_have_their_place),
        cmocka_unit_test(names_of_workers_are_stable),
        cmocka_unit_test(what_does_not_show_in_pods_keeps_the_hash),
        cmocka_unit_test(hashes_are_those_of_kubernetes),
        cmocka_unit_test(texts_are_escaped_as_go_does),
        cmocka_unit_test(keys_are_random_and_made_only_where_needed),
        cmocka_unit_test(annotations_of_the_controller_start_its_pods_anew),
        cmocka_unit_test(null_and_empty_lists_are_not_given),
        cmocka_unit_test(a_charts_empty_pod_spec_changes_nothing),
        cmocka_unit_test(our_containers_come_first),
        cmocka_unit_test(the_agents_image_is_its_own),
        cmocka_unit_test(settings_that_do_not_fit_are_problems),
        cmocka_unit_test(volumes_of_the_user_replace_ours),
        cmocka_unit_test(older_kubernetes_gets_plain_containers),
        cmocka_unit_test(the_agent_is_there_unless_it_is_not_wanted),
        cmocka_unit_test(settings_of_the_sidecar_are_the_agents),
        cmocka_unit_test(without_sidecars_the_agent_is_a_container_and_its_seed_is_not),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
