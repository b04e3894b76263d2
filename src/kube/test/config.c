/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of kubeconfig files: decoding, merging, choosing. */
#include "src/base/test/unit.h"

#include "src/base/alloc.h"
#include "src/base/file.h"
#include "src/kube/target.h"

/* "-----BEGIN X-----\n" in base64. */
#define PEM64 "LS0tLS1CRUdJTiBYLS0tLS0K"

static const char full[] =
    "apiVersion: v1\n"
    "kind: Config\n"
    "current-context: lab\n"
    "preferences: {}\n"
    "clusters:\n"
    "- name: lab\n"
    "  cluster:\n"
    "    server: https://lab.test:6443/\n"
    "    certificate-authority: pki/ca.crt\n"
    "    tls-server-name: api.lab\n"
    "    proxy-url: socks5://127.0.0.1:1080\n"
    "    extensions:\n"
    "    - name: other\n"
    "      extension: 1\n"
    "    - name: client.authentication.k8s.io/exec\n"
    "      extension: {audience: a}\n"
    "- {name: inline, cluster: {server: 'https://[::1]:1', certificate-authority-data: " PEM64
    "}}\n"
    "- {name: bare, cluster: {server: 'lab.test:8080'}}\n"
    "- {name: trusting, cluster: {server: 'lab.test:8443', insecure-skip-tls-verify: true}}\n"
    "users:\n"
    "- name: admin\n"
    "  user: {client-certificate: admin.crt, client-key: /etc/admin.key}\n"
    "- name: data\n"
    "  user: {client-certificate-data: " PEM64 ", client-key-data: " PEM64 "}\n"
    "- {name: bearer, user: {token: hush}}\n"
    "- {name: file, user: {tokenFile: ../token}}\n"
    "- {name: basic, user: {username: u, password: p}}\n"
    "- {name: nobody, user: null}\n"
    "- name: plugin\n"
    "  user:\n"
    "    exec:\n"
    "      apiVersion: client.authentication.k8s.io/v1\n"
    "      command: bin/login\n"
    "      args: [--audience, lab]\n"
    "      env: [{name: A, value: b}, {name: EMPTY}]\n"
    "      installHint: apt-get install login\n"
    "      provideClusterInfo: true\n"
    "      interactiveMode: Never\n"
    "contexts:\n"
    "- {name: lab, context: {cluster: lab, user: admin, namespace: slurm}}\n"
    "- {name: inline, context: {cluster: inline, user: data}}\n"
    "- {name: bare, context: {cluster: bare, user: nobody}}\n"
    "- {name: trusting, context: {cluster: trusting}}\n"
    "- {name: plugin, context: {cluster: lab, user: plugin}}\n"
    "- {name: nocluster, context: {cluster: gone, user: admin}}\n"
    "- {name: nouser, context: {cluster: lab, user: gone}}\n";

static void add(struct kube_config *c, const char *file, const char *text)
{
    struct err e = {0};

    if (kube_config_add(c, file, str_of(text), &e) < 0)
        fail_msg("%s", e.text);
}

static int choose(const char *context, struct kube_target **ret, struct err *e)
{
    AUTO(kube_config_done) struct kube_config c;

    kube_config_init(&c);
    add(&c, "/home/a/.kube/config", full);
    return kube_target_select(&c, "kubeconfig 'x'", &(struct kube_wish){.context = context}, ret,
                              e);
}

static void a_full_file_is_understood(void **state)
{
    AUTO(kube_target_free) struct kube_target *t = NULL;
    struct err e = {0};

    (void)state;
    assert_int_equal(choose(NULL, &t, &e), 0);
    assert_string_equal(t->origin, "context 'lab' of kubeconfig 'x'");
    assert_string_equal(t->namespace, "slurm");
    assert_string_equal(t->cluster->server, "https://lab.test:6443");
    assert_string_equal(t->cluster->ca_file, "/home/a/.kube/pki/ca.crt");
    assert_string_equal(t->cluster->tls_server_name, "api.lab");
    assert_string_equal(t->cluster->proxy_url, "socks5://127.0.0.1:1080");
    assert_string_equal(t->cluster->plugin_config, "{\"audience\":\"a\"}");
    assert_string_equal(t->user->cert_file, "/home/a/.kube/admin.crt");
    assert_string_equal(t->user->key_file, "/etc/admin.key");
}

static void inline_data_are_decoded(void **state)
{
    AUTO(kube_target_free) struct kube_target *t = NULL;
    struct err e = {0};

    (void)state;
    assert_int_equal(choose("inline", &t, &e), 0);
    assert_string_equal(t->namespace, "default");
    assert_string_equal(t->cluster->ca_pem, "-----BEGIN X-----\n");
    assert_string_equal(t->user->cert_pem, "-----BEGIN X-----\n");
    assert_string_equal(secret_expose(&t->user->key_pem), "-----BEGIN X-----\n");
}

static void a_plugin_is_understood(void **state)
{
    AUTO(kube_target_free) struct kube_target *t = NULL;
    const struct kube_plugin *p;
    struct err e = {0};

    (void)state;
    assert_int_equal(choose("plugin", &t, &e), 0);
    p = t->user->plugin;
    assert_string_equal(p->command, "/home/a/.kube/bin/login");
    assert_string_equal(p->args[0], "--audience");
    assert_string_equal(p->args[1], "lab");
    assert_null(p->args[2]);
    assert_string_equal(p->env[0], "A=b");
    assert_string_equal(p->env[1], "EMPTY=");
    assert_null(p->env[2]);
    assert_true(p->wants_cluster);
    assert_int_equal(p->interactive, KUBE_INTERACTIVE_NEVER);
}

static void a_server_without_scheme_gets_one(void **state)
{
    AUTO(kube_target_free) struct kube_target *bare = NULL;
    AUTO(kube_target_free) struct kube_target *trusting = NULL;
    struct err e = {0};

    (void)state;
    assert_int_equal(choose("bare", &bare, &e), 0);
    assert_string_equal(bare->cluster->server, "http://lab.test:8080");
    assert_int_equal(choose("trusting", &trusting, &e), 0);
    assert_string_equal(trusting->cluster->server, "https://lab.test:8443");
    assert_true(trusting->cluster->insecure);
}

static void choosing_what_is_not_there_is_an_error(void **state)
{
    static const struct {
        const char *context;
        const char *text;
    } cases[] = {
        {"nowhere", "kubeconfig 'x': there is no context 'nowhere'"},
        {"nocluster", "context 'nocluster' of kubeconfig 'x': there is no cluster 'gone'"},
        {"nouser", "context 'nouser' of kubeconfig 'x': there is no user 'gone'"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct kube_target *t = NULL;
        struct err e = {0};

        assert_int_equal(choose(cases[i].context, &t, &e), -EINVAL);
        assert_string_equal(e.text, cases[i].text);
    }
}

static void bad_files_are_refused_by_field(void **state)
{
    static const struct {
        const char *text;
        const char *problem;
    } cases[] = {
        {"[]", "is not a kubeconfig: it must be an object, not array"},
        {"kind: Pod\napiVersion: v1", "is not a kubeconfig: it says apiVersion 'v1', kind 'Pod'"},
        {"clusters: {}", "clusters must be a list"},
        {"clusters: [{cluster: {}}]", "clusters[0]: name is missing"},
        {"clusters: [{name: a}, {name: a}]", "clusters[1]: the name 'a' stands twice in this list"},
        {"clusters: [{name: a, cluster: 1}]", "clusters[0]: cluster must be an object"},
        {"clusters: [{name: a, cluster: {server: 1}}]",
         "clusters[0]: 'a': cluster: server: must be a string, not integer"},
        {"clusters: [{name: a, cluster: {insecure-skip-tls-verify: 'yes'}}]",
         "clusters[0]: 'a': cluster: insecure-skip-tls-verify: must be true or false, not string"},
        {"clusters: [{name: a, cluster: {certificate-authority-data: '%'}}]",
         "clusters[0]: 'a': cluster: certificate-authority-data: is not base64"},
        {"clusters: [{name: a, cluster: {certificate-authority-data: aGFsbG8=}}]",
         "clusters[0]: 'a': cluster: certificate-authority-data: is base64, but not of PEM text"},
        {"users: [{name: u, user: {client-key-data: '%'}}]",
         "users[0]: 'u': user: client-key-data: is not base64"},
        {"users: [{name: u, user: {token: [x]}}]",
         "users[0]: 'u': user: token: must be a string, not array"},
        {"users: [{name: u, user: {exec: 1}}]", "users[0]: 'u': user: exec: must be an object"},
        {"users: [{name: u, user: {exec: {}}}]", "users[0]: 'u': user: exec: command is missing"},
        {"users: [{name: u, user: {exec: {command: c}}}]",
         "users[0]: 'u': user: exec: apiVersion is missing"},
        {"users: [{name: u, user: {exec: {command: c, apiVersion: v2}}}]",
         "users[0]: 'u': user: exec: apiVersion: 'v2' is not client.authentication.k8s.io/v1 or "
         "v1beta1"},
        {"users: [{name: u, user: {exec: {command: c, args: x}}}]",
         "users[0]: 'u': user: exec: args must be a list of strings"},
        {"users: [{name: u, user: {exec: {command: c, args: [a, 1]}}}]",
         "users[0]: 'u': user: exec: args[1] must be a string"},
        {"users: [{name: u, user: {exec: {command: c, env: {}}}}]",
         "users[0]: 'u': user: exec: env must be a list of names with values"},
        {"users: [{name: u, user: {exec: {command: c, env: [{name: 'a=b'}]}}}]",
         "users[0]: 'u': user: exec: env[0].name must be the name of a variable"},
        {"users: [{name: u, user: {exec: {command: c, interactiveMode: Maybe}}}]",
         "users[0]: 'u': user: exec: interactiveMode must be Never, IfAvailable or Always"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(kube_config_done) struct kube_config c;
        AUTO(free) char *text = xasprintf("kubeconfig 'f': %s", cases[i].problem);
        struct err e = {0};

        kube_config_init(&c);
        assert_int_equal(kube_config_add(&c, "f", str_of(cases[i].text), &e), -EINVAL);
        assert_string_equal(e.text, text);
        assert_int_equal(c.clusters.n + c.users.n + c.contexts.n, 0);
    }
}

static void contradictions_are_refused_when_used(void **state)
{
    static const struct {
        const char *cluster;
        const char *user;
        const char *problem;
    } cases[] = {
        {"{}", "{}", "cluster 'c': server is missing"},
        {"{server: 'ftp://h'}", "{}", "cluster 'c': server: 'ftp://h' is not an http or https URL"},
        {"{server: 'https://h/?a'}", "{}",
         "cluster 'c': server: 'https://h/?a' is not a URL of scheme, host, port and path"},
        {"{server: 'https://a b'}", "{}",
         "cluster 'c': server: 'https://a b' is not a URL of scheme, host, port and path"},
        {"{server: h, insecure-skip-tls-verify: true, certificate-authority: x}", "{}",
         "cluster 'c': certificate-authority and insecure-skip-tls-verify exclude each other"},
        {"{server: h, proxy-url: proxy}", "{}", "cluster 'c': proxy-url: 'proxy' is not a URL"},
        {"{server: h}", "{client-certificate: x}",
         "user 'u': client-certificate is there, client-key or client-key-data is missing"},
        {"{server: h}", "{client-key: x}",
         "user 'u': client-key is there, client-certificate or client-certificate-data is missing"},
        {"{server: h}", "{token: x, username: u}",
         "user 'u': token and username exclude each other"},
        {"{server: h}", "{password: x}", "user 'u': password is there, username is missing"},
        {"{server: h}", "{username: 'a:b'}", "user 'u': username must not hold a colon"},
        {"{server: h}", "{auth-provider: {name: gcp}}", "user 'u': auth-provider is not supported"},
        {"{server: h}", "{token: x, as: root}", "user 'u': as is not supported"},
        {"{server: h}",
         "{exec: {command: c, apiVersion: client.authentication.k8s.io/v1, interactiveMode: "
         "Always}}",
         "user 'u': exec.interactiveMode is Always, but there is no terminal to ask on"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(kube_config_done) struct kube_config c;
        AUTO(free)
        char *text = xasprintf("{clusters: [{name: c, cluster: %s}], users: [{name: u, "
                               "user: %s}], contexts: [{name: x, context: {cluster: c, "
                               "user: u}}], current-context: x}",
                               cases[i].cluster, cases[i].user);
        AUTO(free) char *want = xasprintf("context 'x' of k: %s", cases[i].problem);
        struct kube_target *t = NULL;
        struct err e = {0};

        kube_config_init(&c);
        add(&c, "f", text);
        assert_int_equal(kube_target_select(&c, "k", &(struct kube_wish){0}, &t, &e), -EINVAL);
        assert_string_equal(e.text, want);
    }
}

static void the_first_file_wins_entry_by_entry(void **state)
{
    AUTO(kube_config_done) struct kube_config c;
    struct kube_cluster *a;

    (void)state;
    kube_config_init(&c);
    add(&c, "/1/config", "");
    add(&c, "/1/config", "{clusters: [{name: a, cluster: {server: one}}]}");
    add(&c, "/2/config",
        "{current-context: two, clusters: [{name: a, cluster: {server: two, tls-server-name: t}}, "
        "{name: b, cluster: {server: two, certificate-authority: ca}}]}");
    add(&c, "/3/config", "{current-context: three, users: [{name: u}]}");
    a = map_get(&c.clusters, STR("a"));
    assert_string_equal(a->server, "one");
    assert_null(a->tls_server_name);
    assert_string_equal(((struct kube_cluster *)map_get(&c.clusters, STR("b")))->ca_file, "/2/ca");
    assert_non_null(map_get(&c.users, STR("u")));
    assert_string_equal(c.current_context, "two");
}

/* A scratch directory with KUBECONFIG, HOME and the pod's variables out of the way. */
static int scratch(void **state)
{
    static char dir[32];

    (void)snprintf(dir, sizeof(dir), "/tmp/kube-config-XXXXXX");
    if (!mkdtemp(dir))
        return -1;
    (void)setenv("HOME", dir, 1);
    (void)unsetenv("KUBECONFIG");
    (void)unsetenv("KUBERNETES_SERVICE_HOST");
    (void)unsetenv("KUBERNETES_SERVICE_PORT");
    *state = dir;
    return 0;
}

static int unscratch(void **state)
{
    struct err e = {0};

    return file_remove_tree(*state, &e);
}

static void put(const char *dir, const char *name, const char *text)
{
    AUTO(free) char *path = xasprintf("%s/%s", dir, name);
    AUTO(free) char *parent = xstrndup(path, (size_t)(strrchr(path, '/') - path));
    struct err e = {0};

    assert_int_equal(file_make_dirs(parent, 0700, &e), 0);
    assert_int_equal(file_write(path, str_of(text), 0600, &e), 0);
}

static void several_files_of_the_environment_are_merged(void **state)
{
    const char *dir = *state;
    AUTO(free) char *list = xasprintf("%s/a::%s/missing:%s/b", dir, dir, dir);
    AUTO(kube_target_free) struct kube_target *t = NULL;
    struct err e = {0};

    put(dir, "a", "{current-context: x, contexts: [{name: x, context: {cluster: c}}]}");
    put(dir, "b", "{current-context: y, clusters: [{name: c, cluster: {server: 'http://b'}}]}");
    (void)setenv("KUBECONFIG", list, 1);
    assert_int_equal(kube_target_find(&(struct kube_wish){.namespace = "n"}, &t, &e), 0);
    assert_string_equal(t->cluster->server, "http://b");
    assert_string_equal(t->namespace, "n");
    assert_int_equal(e.num, 0);
}

static void a_broken_file_in_the_list_is_an_error(void **state)
{
    const char *dir = *state;
    AUTO(free) char *list = xasprintf("%s/a:%s/b", dir, dir);
    AUTO(free) char *want = xasprintf("kubeconfig '%s/b': users must be a list", dir);
    struct kube_target *t = NULL;
    struct err e = {0};

    put(dir, "a", "{}");
    put(dir, "b", "users: 1");
    (void)setenv("KUBECONFIG", list, 1);
    assert_int_equal(kube_target_find(&(struct kube_wish){0}, &t, &e), -EINVAL);
    assert_string_equal(e.text, want);
}

static void a_named_file_must_be_there(void **state)
{
    AUTO(free) char *path = xasprintf("%s/none", (const char *)*state);
    struct kube_target *t = NULL;
    struct err e = {0};

    assert_int_equal(kube_target_find(&(struct kube_wish){.kubeconfig = path}, &t, &e), -ENOENT);
    assert_non_null(strstr(e.text, path));
}

static void the_file_of_the_home_is_last(void **state)
{
    const char *dir = *state;
    AUTO(kube_target_free) struct kube_target *t = NULL;
    struct err e = {0};

    assert_int_equal(kube_target_find(&(struct kube_wish){0}, &t, &e), -EINVAL);
    assert_non_null(strstr(e.text, "no API server is configured"));
    put(dir, ".kube/config",
        "{current-context: x, contexts: [{name: x, context: {cluster: c, user: u}}], clusters: "
        "[{name: c, cluster: {server: 'https://h'}}], users: [{name: u, user: {tokenFile: t}}]}");
    e = (struct err){0};
    assert_int_equal(kube_target_find(&(struct kube_wish){0}, &t, &e), 0);
    assert_true(starts_with(t->user->token_file, dir));
    assert_true(ends_with(t->user->token_file, "/.kube/t"));
}

static void in_a_pod_the_service_account_is_used(void **state)
{
    const char *dir = *state;
    struct kube_wish w = {.pod_dir = dir};
    AUTO(kube_target_free) struct kube_target *t = NULL;
    AUTO(kube_target_free) struct kube_target *v6 = NULL;
    struct err e = {0};

    put(dir, "namespace", "slurm\n");
    (void)setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1", 1);
    (void)setenv("KUBERNETES_SERVICE_PORT", "443", 1);
    assert_int_equal(kube_target_find(&w, &t, &e), 0);
    assert_string_equal(t->cluster->server, "https://10.0.0.1:443");
    assert_string_equal(t->namespace, "slurm");
    assert_true(ends_with(t->cluster->ca_file, "/ca.crt"));
    assert_true(ends_with(t->user->token_file, "/token"));
    (void)setenv("KUBERNETES_SERVICE_HOST", "fd00::1", 1);
    w.pod_dir = "/nonexistent";
    assert_int_equal(kube_target_find(&w, &v6, &e), 0);
    assert_string_equal(v6->cluster->server, "https://[fd00::1]:443");
    assert_string_equal(v6->namespace, "default");
    (void)unsetenv("KUBERNETES_SERVICE_PORT");
    assert_int_equal(kube_target_in_cluster(&w, &v6, &e), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_file_is_understood),
        cmocka_unit_test(inline_data_are_decoded),
        cmocka_unit_test(a_plugin_is_understood),
        cmocka_unit_test(a_server_without_scheme_gets_one),
        cmocka_unit_test(choosing_what_is_not_there_is_an_error),
        cmocka_unit_test(bad_files_are_refused_by_field),
        cmocka_unit_test(contradictions_are_refused_when_used),
        cmocka_unit_test(the_first_file_wins_entry_by_entry),
        cmocka_unit_test_setup_teardown(several_files_of_the_environment_are_merged, scratch,
                                        unscratch),
        cmocka_unit_test_setup_teardown(a_broken_file_in_the_list_is_an_error, scratch, unscratch),
        cmocka_unit_test_setup_teardown(a_named_file_must_be_there, scratch, unscratch),
        cmocka_unit_test_setup_teardown(the_file_of_the_home_is_last, scratch, unscratch),
        cmocka_unit_test_setup_teardown(in_a_pod_the_service_account_is_used, scratch, unscratch),
    };

    return cmocka_run_group_tests_name("config", tests, NULL, NULL);
}
