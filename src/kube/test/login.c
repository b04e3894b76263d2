/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of credentials: files that rotate, plugins that run as real programs. */
#include "src/base/test/unit.h"

#include <sys/stat.h>

#include "src/base/alloc.h"
#include "src/base/clock.h"
#include "src/base/encode.h"
#include "src/base/file.h"
#include "src/kube/login.h"
#include "src/kube/plugin.h"

#define V1 "client.authentication.k8s.io/v1"

struct rig {
    char dir[32];
    struct loop *loop;
    struct kube_target *target;
    struct kube_login *login;
    struct kube_login_wait wait;
    int called;
    char *authorization;
    char *cert;
    unsigned int generation;
    struct err e;
};

static void rig_init(struct rig *r)
{
    *r = (struct rig){.dir = "/tmp/kube-login-XXXXXX"};
    assert_non_null(mkdtemp(r->dir));
    assert_int_equal(loop_new(&r->loop, &r->e), 0);
    r->target = xcalloc(1, sizeof(*r->target));
    r->target->origin = xstrdup("the test");
    r->target->namespace = xstrdup("default");
    r->target->cluster = xcalloc(1, sizeof(*r->target->cluster));
    r->target->cluster->server = xstrdup("https://h");
    r->target->user = xcalloc(1, sizeof(*r->target->user));
    (void)loop_turn(r->loop, 0);
}

static void rig_done(struct rig *r)
{
    struct err e = {0};

    r->login = kube_login_free(r->login);
    r->target = kube_target_free(r->target);
    r->loop = loop_free(r->loop);
    free(r->authorization);
    free(r->cert);
    assert_int_equal(file_remove_tree(r->dir, &e), 0);
}
DEFINE_AUTO_DONE(struct rig, rig_done);

static void note(void *arg, const struct kube_credential *c, const struct err *e)
{
    struct rig *r = arg;

    r->called++;
    r->e = e ? *e : (struct err){0};
    free(TAKE(r->authorization));
    free(TAKE(r->cert));
    if (!c)
        return;
    r->authorization = xstrdup_null(c->authorization);
    r->cert = xstrdup_null(c->tls.cert_pem);
    r->generation = c->generation;
}

/* Get a credential, waiting for the plugin if there is one. */
static int get(struct rig *r)
{
    struct kube_credential c;
    struct err e = {0};
    int before = r->called;
    int n;

    if (!r->login)
        r->login = kube_login_new(r->loop, r->target);
    r->wait = (struct kube_login_wait){.fn = note, .arg = r};
    n = kube_login_get(r->login, &r->wait, &c, &e);
    if (n <= 0)
        note(r, n < 0 ? NULL : &c, n < 0 ? &e : NULL);
    for (int i = 0; i < 2000 && r->called == before; i++)
        (void)loop_turn(r->loop, 50);
    assert_int_equal(r->called, before + 1);
    return n;
}

static char *put(struct rig *r, const char *name, const char *text)
{
    char *path = xasprintf("%s/%s", r->dir, name);
    struct err e = {0};

    assert_int_equal(file_write(path, str_of(text), 0700, &e), 0);
    return path;
}

/* A plugin that is a shell script. */
static void script(struct rig *r, const char *text)
{
    struct kube_plugin *p = xcalloc(1, sizeof(*p));
    AUTO(free) char *whole = xasprintf("#!/bin/sh\n%s\n", text);

    p->api_version = xstrdup(V1);
    p->command = put(r, "plugin", whole);
    r->target->user->plugin = p;
}

static void whoever_has_nothing_is_anonymous(void **state)
{
    AUTO(rig_done) struct rig r;

    (void)state;
    rig_init(&r);
    assert_int_equal(get(&r), 0);
    assert_null(r.authorization);
    assert_false(kube_login_refused(r.login, r.generation));
}

static void tokens_and_passwords_become_headers(void **state)
{
    AUTO(rig_done) struct rig r;
    AUTO(rig_done) struct rig basic;

    (void)state;
    rig_init(&r);
    secret_set(&r.target->user->token, STR("hush"));
    assert_int_equal(get(&r), 0);
    assert_string_equal(r.authorization, "Authorization: Bearer hush");
    rig_init(&basic);
    basic.target->user->username = xstrdup("Aladdin");
    secret_set(&basic.target->user->password, STR("open sesame"));
    assert_int_equal(get(&basic), 0);
    assert_string_equal(basic.authorization, "Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
}

static void a_token_cannot_smuggle_a_header(void **state)
{
    AUTO(rig_done) struct rig r;

    (void)state;
    rig_init(&r);
    secret_set(&r.target->user->token, STR("a\r\nX-Evil: 1"));
    assert_int_equal(get(&r), -EINVAL);
    assert_string_equal(r.e.text, "the test: the token holds a control character");
}

static void a_token_file_is_read_again_when_refused(void **state)
{
    AUTO(rig_done) struct rig r;

    (void)state;
    rig_init(&r);
    r.target->user->token_file = put(&r, "token", " one\n");
    assert_int_equal(get(&r), 0);
    assert_string_equal(r.authorization, "Authorization: Bearer one");
    assert_false(kube_login_refused(r.login, r.generation));
    free(put(&r, "token", "two"));
    assert_int_equal(get(&r), 0);
    assert_string_equal(r.authorization, "Authorization: Bearer one");
    assert_true(kube_login_refused(r.login, r.generation));
    assert_int_equal(get(&r), 0);
    assert_string_equal(r.authorization, "Authorization: Bearer two");
    assert_true(kube_login_refused(r.login, r.generation - 1));
}

static void a_token_file_that_vanishes_keeps_its_last_token(void **state)
{
    AUTO(rig_done) struct rig r;

    (void)state;
    rig_init(&r);
    r.target->user->token_file = put(&r, "token", "one");
    assert_int_equal(get(&r), 0);
    assert_int_equal(unlink(r.target->user->token_file), 0);
    assert_false(kube_login_refused(r.login, r.generation));
    assert_int_equal(get(&r), 0);
    assert_string_equal(r.authorization, "Authorization: Bearer one");
}

static void a_file_that_was_never_there_is_an_error(void **state)
{
    AUTO(rig_done) struct rig r;

    (void)state;
    rig_init(&r);
    r.target->cluster->ca_file = xstrdup("/nonexistent/ca.crt");
    assert_int_equal(get(&r), -ENOENT);
    assert_string_equal(r.e.text, "the test: certificate-authority: cannot open "
                                  "'/nonexistent/ca.crt': No such file or directory");
    free(r.target->cluster->ca_file);
    r.login = kube_login_free(r.login);
    r.target->cluster->ca_file = put(&r, "ca", "\n");
    assert_int_equal(get(&r), -ENODATA);
}

static void a_plugin_runs_once_for_all_who_wait(void **state)
{
    AUTO(rig_done) struct rig r;
    struct kube_login_wait more = {0};
    struct kube_credential c;
    AUTO(free) char *path = NULL;

    (void)state;
    rig_init(&r);
    script(&r, "echo run >>${0%/*}/runs\n"
               "echo '{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1 "\",\"status\":"
               "{\"token\":\"t1\"}}'");
    r.login = kube_login_new(r.loop, r.target);
    more = (struct kube_login_wait){.fn = note, .arg = &r};
    assert_int_equal(kube_login_get(r.login, &more, &c, &r.e), 1);
    r.wait = (struct kube_login_wait){.fn = note, .arg = &r};
    assert_int_equal(kube_login_get(r.login, &r.wait, &c, &r.e), 1);
    while (r.called < 2)
        (void)loop_turn(r.loop, 50);
    assert_string_equal(r.authorization, "Authorization: Bearer t1");
    assert_int_equal(get(&r), 0);
    path = xasprintf("%s/runs", r.dir);
    free(TAKE(r.authorization));
    assert_int_equal(file_read(path, 100, &r.authorization, NULL, &r.e), 0);
    assert_string_equal(r.authorization, "run\n");
}

static void a_refused_or_expired_credential_is_made_anew(void **state)
{
    AUTO(rig_done) struct rig r;

    (void)state;
    rig_init(&r);
    script(&r, "d=${0%/*}; echo x >>$d/n\n"
               "printf '{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1 "\",\"status\":"
               "{\"token\":\"t%d\",\"expirationTimestamp\":\"2020-01-01T00:00:00Z\"}}' "
               "$(wc -l <$d/n)");
    assert_int_equal(get(&r), 1);
    assert_string_equal(r.authorization, "Authorization: Bearer t1");
    assert_int_equal(get(&r), 1);
    assert_string_equal(r.authorization, "Authorization: Bearer t2");
    assert_true(kube_login_refused(r.login, r.generation));
    assert_int_equal(get(&r), 1);
    assert_string_equal(r.authorization, "Authorization: Bearer t3");
}

static void a_valid_credential_lasts_until_it_is_refused(void **state)
{
    AUTO(rig_done) struct rig r;

    (void)state;
    rig_init(&r);
    script(&r, "printf '{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1 "\",\"status\":"
               "{\"clientCertificateData\":\"CERT\",\"clientKeyData\":\"KEY\","
               "\"expirationTimestamp\":\"2999-01-01T00:00:00Z\"}}'");
    assert_int_equal(get(&r), 1);
    assert_null(r.authorization);
    assert_string_equal(r.cert, "CERT");
    assert_int_equal(get(&r), 0);
    assert_true(kube_login_refused(r.login, r.generation));
    assert_int_equal(get(&r), 1);
}

static void the_plugin_sees_its_environment(void **state)
{
    AUTO(rig_done) struct rig r;

    (void)state;
    rig_init(&r);
    script(&r, "[ -t 0 ] && exit 3; read x && exit 4\n"
               "case $KUBERNETES_EXEC_INFO in *'\"interactive\":false'*) ;; *) exit 5;; esac\n"
               "case $KUBERNETES_EXEC_INFO in *'\"server\":\"https://h\"'*) ;; *) exit 6;; esac\n"
               "case $KUBERNETES_EXEC_INFO in *'\"config\":{\"a\":1}'*) ;; *) exit 7;; esac\n"
               "echo '{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1 "\",\"status\":"
               "{\"token\":\"'$WHO-$1-$HOME'\"}}'");
    r.target->user->plugin->wants_cluster = true;
    r.target->cluster->plugin_config = xstrdup("{\"a\":1}");
    r.target->user->plugin->args = xcalloc(2, sizeof(char *));
    r.target->user->plugin->args[0] = xstrdup("arg");
    r.target->user->plugin->env = xcalloc(3, sizeof(char *));
    r.target->user->plugin->env[0] = xstrdup("WHO=me");
    r.target->user->plugin->env[1] = xstrdup("HOME=/nowhere");
    assert_int_equal(get(&r), 1);
    assert_string_equal(r.e.text, "");
    assert_string_equal(r.authorization, "Authorization: Bearer me-arg-/nowhere");
}

static void failing_plugins_are_told_in_sentences(void **state)
{
    static const struct {
        const char *script;
        const char *problem;
    } cases[] = {
        {"echo not logged in >&2; exit 7", "it failed with exit code 7; it said: not logged in"},
        {"kill -9 $$", "it was killed by signal 9"},
        {"echo hello", "its output is not JSON: line 1 column 1: "},
        {"echo '{}'", "its output is not an ExecCredential"},
        {"yes $(printf %01000d 1)", "it printed too much"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(rig_done) struct rig r;
        AUTO(free) char *want = NULL;

        rig_init(&r);
        script(&r, cases[i].script);
        want = xasprintf("credential plugin '%s/plugin': %s", r.dir, cases[i].problem);
        assert_int_equal(get(&r), 1);
        assert_true(starts_with(r.e.text, want));
        assert_int_equal(get(&r), 1);
    }
}

static void a_missing_plugin_says_how_to_install_it(void **state)
{
    AUTO(rig_done) struct rig r;

    (void)state;
    rig_init(&r);
    script(&r, "");
    free(r.target->user->plugin->command);
    r.target->user->plugin->command = xstrdup("no-such-program-anywhere");
    r.target->user->plugin->install_hint = xstrdup("apt-get install it");
    assert_int_equal(get(&r), 1);
    assert_string_equal(r.e.text, "credential plugin 'no-such-program-anywhere': is not installed: "
                                  "apt-get install it");
}

static void a_straggler_that_holds_the_pipe_is_not_waited_for(void **state)
{
    AUTO(rig_done) struct rig r;
    int64_t before = clock_mono_ms();

    (void)state;
    rig_init(&r);
    script(&r, "sleep 5 &\necho '{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1 "\",\"status\":"
               "{\"token\":\"t\"}}'");
    assert_int_equal(get(&r), 1);
    assert_string_equal(r.authorization, "Authorization: Bearer t");
    assert_true(clock_mono_ms() - before < 4000);
}

static void leaving_kills_the_plugin(void **state)
{
    AUTO(rig_done) struct rig r;
    struct kube_credential c;

    (void)state;
    rig_init(&r);
    script(&r, "sleep 60");
    r.login = kube_login_new(r.loop, r.target);
    r.wait = (struct kube_login_wait){.fn = note, .arg = &r};
    assert_int_equal(kube_login_get(r.login, &r.wait, &c, &r.e), 1);
    (void)loop_turn(r.loop, 20);
    r.login = kube_login_free(r.login);
    (void)loop_turn(r.loop, 20);
    assert_int_equal(r.called, 0);
}

static void answers_are_held_to_the_contract(void **state)
{
    static const struct {
        const char *text;
        const char *problem;
    } cases[] = {
        {"{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/v1beta1\"}",
         "it answered with apiVersion 'client.authentication.k8s.io/v1beta1', '" V1
         "' was asked for"},
        {"{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1 "\"}", "status is missing"},
        {"{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1 "\",\"status\":{}}",
         "status holds neither a token nor a client certificate"},
        {"{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1
         "\",\"status\":{\"clientKeyData\":\"x\"}}",
         "status.clientCertificateData and status.clientKeyData must come together"},
        {"{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1
         "\",\"status\":{\"token\":\"x\",\"expirationTimestamp\":\"soon\"}}",
         "status.expirationTimestamp: 'soon' is not a time"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct kube_plugin_answer a = {0};
        struct err e = {0};

        assert_int_equal(kube_plugin_parse(str_of(cases[i].text), V1, &a, &e), -EINVAL);
        assert_string_equal(e.text, cases[i].problem);
    }
}

/* A kubeconfig as the embedded server writes it; any text stands for a certificate. */
static char *put_config(struct rig *r, const char *cert)
{
    AUTO(buf_done) struct buf b = {0};
    AUTO(buf_done) struct buf data = {0};
    AUTO(buf_done) struct buf pem = {0};

    buf_printf(&pem, "-----BEGIN X-----\n%s\n-----END X-----\n", cert);
    encode_base64(&data, buf_view(&pem));
    buf_adds(&b, "apiVersion: v1\nkind: Config\ncurrent-context: c\n"
                 "clusters: [{name: c, cluster: {server: 'https://h', "
                 "insecure-skip-tls-verify: true}}]\n"
                 "contexts: [{name: c, context: {cluster: c, user: u}}]\n");
    buf_printf(&b, "users: [{name: u, user: {client-certificate-data: %s, client-key-data: %s}}]\n",
               buf_str(&data), buf_str(&data));
    return put(r, "kubeconfig", buf_str(&b));
}

static void a_kubeconfig_is_followed(void **state)
{
    AUTO(rig_done) struct rig r;
    AUTO(free) char *path = NULL;
    AUTO(free) char *again = NULL;
    unsigned int before;

    (void)state;
    rig_init(&r);
    path = put_config(&r, "first");
    r.target = kube_target_free(r.target);
    assert_int_equal(kube_target_find(&(struct kube_wish){.kubeconfig = path}, &r.target, &r.e), 0);
    assert_int_equal(get(&r), 0);
    assert_non_null(strstr(r.cert, "first"));
    before = r.generation;
    assert_false(kube_login_refused(r.login, before));
    again = put_config(&r, "second");
    assert_int_equal(get(&r), 0);
    assert_non_null(strstr(r.cert, "first")); /* a minute has not passed */
    assert_true(kube_login_refused(r.login, before));
    assert_int_equal(get(&r), 0);
    assert_non_null(strstr(r.cert, "second"));
    assert_true(r.generation > before);
    assert_int_equal(file_write(path, STR("rubbish"), 0600, &r.e), 0);
    assert_false(kube_login_refused(r.login, r.generation));
    assert_int_equal(get(&r), 0);
    assert_non_null(strstr(r.cert, "second"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kubeconfig_is_followed),
        cmocka_unit_test(whoever_has_nothing_is_anonymous),
        cmocka_unit_test(tokens_and_passwords_become_headers),
        cmocka_unit_test(a_token_cannot_smuggle_a_header),
        cmocka_unit_test(a_token_file_is_read_again_when_refused),
        cmocka_unit_test(a_token_file_that_vanishes_keeps_its_last_token),
        cmocka_unit_test(a_file_that_was_never_there_is_an_error),
        cmocka_unit_test(a_plugin_runs_once_for_all_who_wait),
        cmocka_unit_test(a_refused_or_expired_credential_is_made_anew),
        cmocka_unit_test(a_valid_credential_lasts_until_it_is_refused),
        cmocka_unit_test(the_plugin_sees_its_environment),
        cmocka_unit_test(failing_plugins_are_told_in_sentences),
        cmocka_unit_test(a_missing_plugin_says_how_to_install_it),
        cmocka_unit_test(a_straggler_that_holds_the_pipe_is_not_waited_for),
        cmocka_unit_test(leaving_kills_the_plugin),
        cmocka_unit_test(answers_are_held_to_the_contract),
    };

    return cmocka_run_group_tests_name("login", tests, NULL, NULL);
}
