/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of the webhook's keys: what is made, what is good, who is told to trust them. */
#include "src/base/test/unit.h"

#include "src/http/server.h"
#include "src/json/patch_json.h"
#include "src/operator/webhook_keys.h"

static const struct webhook_name here = {"hook", "home", NULL};

static struct jsn *parse(struct arena *a, const char *text)
{
    struct jsn *v = NULL;
    struct err e = {0};

    assert_int_equal(jsn_parse(a, str_of(text), NULL, &v, &e), 0);
    return v;
}

static struct webhook_keys make(struct arena *a, const struct webhook_keys *before)
{
    struct webhook_keys keys;
    struct err e = {0};

    assert_int_equal(webhook_keys_make(a, &here, before, &keys, &e), 0);
    return keys;
}

static size_t count(const char *text, const char *word)
{
    size_t n = 0;

    for (const char *at = text; (at = strstr(at, word)); at++)
        n++;
    return n;
}

static void a_secret_holds_what_was_made(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct webhook_keys keys = make(&a, NULL);
    struct webhook_keys back;
    struct jsn *secret = webhook_keys_secret(&a, &here, &keys, NULL);
    struct http_tls *tls = NULL;
    struct err e = {0};

    (void)state;
    assert_true(webhook_keys_is_ours(secret));
    assert_string_equal(jsn_get_str(secret, "type"), "kubernetes.io/tls");
    assert_null(jsn_get(secret, "metadata.resourceVersion"));
    assert_int_equal(webhook_keys_decode(&a, secret, &back, &e), 0);
    assert_string_equal(back.cert_pem, keys.cert_pem);
    assert_string_equal(back.key_pem, keys.key_pem);
    assert_string_equal(back.bundle_pem, keys.bundle_pem);
    assert_int_equal(http_tls_new(back.cert_pem, back.key_pem, NULL, &tls, &e), 0);
    (void)http_tls_free(tls);
}

static void keys_are_good_for_their_names_alone(void **state)
{
    static const struct webhook_name others[] = {
        {"hook", "elsewhere", NULL}, {"other", "home", NULL}, {"hook", "home", "example.org"}};
    AUTO(arena_done) struct arena a = {0};
    struct webhook_keys keys = make(&a, NULL);
    struct webhook_keys stranger = make(&a, NULL);

    (void)state;
    assert_true(webhook_keys_are_good(&a, &here, &keys));
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        assert_false(webhook_keys_are_good(&a, &others[i], &keys));
    stranger.cert_pem = keys.cert_pem;
    assert_false(webhook_keys_are_good(&a, &here, &stranger));
    stranger.cert_pem = "nonsense";
    assert_false(webhook_keys_are_good(&a, &here, &stranger));
}

/* Whoever still serves with the last keys is trusted; who has the ones before is not. */
static void the_last_authority_stays_in_the_bundle(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct webhook_keys first = make(&a, NULL);
    struct webhook_keys second = make(&a, &first);
    struct webhook_keys third = make(&a, &second);

    (void)state;
    assert_int_equal(count(first.bundle_pem, "BEGIN CERTIFICATE"), 1);
    assert_int_equal(count(second.bundle_pem, "BEGIN CERTIFICATE"), 2);
    assert_int_equal(count(third.bundle_pem, "BEGIN CERTIFICATE"), 2);
    assert_true(ends_with(second.bundle_pem, first.bundle_pem));
    assert_null(strstr(third.bundle_pem, first.bundle_pem));
    assert_true(webhook_keys_are_good(&a, &here, &third));
}

static void a_secret_that_serves_nobody_is_told(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct webhook_keys made = make(&a, NULL);
    struct jsn *secret = webhook_keys_secret(&a, &here, &made, NULL);
    struct webhook_keys keys;
    struct err e = {0};

    (void)state;
    assert_int_equal(webhook_keys_decode(&a, parse(&a, "{}"), &keys, &e), -EINVAL);
    assert_string_equal(e.text, "it has no tls.crt");
    assert_int_equal(
        webhook_keys_decode(&a, parse(&a, "{\"data\":{\"tls.crt\":\"eA==\"}}"), &keys, &e),
        -EINVAL);
    assert_string_equal(e.text, "it has no tls.key");
    assert_int_equal(
        webhook_keys_decode(&a, parse(&a, "{\"data\":{\"tls.crt\":\"eA==\",\"tls.key\":\"eQ==\"}}"),
                            &keys, &e),
        -EINVAL);
    assert_true(starts_with(e.text, "TLS certificate: "));
    /* cert-manager with an authority that everybody knows */
    jsn_del(jsn_key(secret, "data"), "ca.crt");
    assert_int_equal(webhook_keys_decode(&a, secret, &keys, &e), 0);
    assert_string_equal(keys.bundle_pem, made.cert_pem);
}

#define SERVICE(name, ns) "\"service\":{\"name\":\"" name "\",\"namespace\":\"" ns "\"}"
#define HOOK(name, client) "{\"name\":\"" name "\",\"clientConfig\":{" client "}}"

static void only_what_leads_to_us_is_told_to_trust(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct jsn *configuration = parse(
        &a, "{\"webhooks\":[" HOOK("url.example.org", "\"url\":\"https://hook.home\"") "," HOOK(
                "far.example.org",
                SERVICE("hook", "far")) "," HOOK("ours.example.org",
                                                 SERVICE("hook",
                                                         "home")) "," HOOK("other.example.org",
                                                                           SERVICE("other",
                                                                                   "home")) "]}");
    struct jsn *patch = webhook_trust_patch(&a, &here, configuration, "PEM");
    struct jsn *patched = NULL;
    AUTO(buf_done) struct buf b = {0};
    struct err e = {0};

    (void)state;
    jsn_print(&b, patch);
    assert_string_equal(buf_str(&b), "[{\"op\":\"test\",\"path\":\"/webhooks/2/name\",\"value\":"
                                     "\"ours.example.org\"},{\"op\":\"add\",\"path\":"
                                     "\"/webhooks/2/clientConfig/caBundle\",\"value\":\"UEVN\"}]");
    assert_int_equal(patch_json(&a, configuration, patch, &patched, &e), 0);
    assert_null(webhook_trust_patch(&a, &here, patched, "PEM"));
    assert_non_null(webhook_trust_patch(&a, &here, patched, "OTHER"));
    assert_null(webhook_trust_patch(&a, &here, parse(&a, "{}"), "PEM"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_secret_holds_what_was_made),
        cmocka_unit_test(keys_are_good_for_their_names_alone),
        cmocka_unit_test(the_last_authority_stays_in_the_bundle),
        cmocka_unit_test(a_secret_that_serves_nobody_is_told),
        cmocka_unit_test(only_what_leads_to_us_is_told_to_trust),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
