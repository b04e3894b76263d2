/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of how the webhook comes by its certificate: a scripted API server on the other side.
 */
#include "src/base/test/unit.h"

#include "src/base/alloc.h"
#include "src/kube/test/peer.h"
#include "src/operator/webhook.h"

#define GONE "{\"kind\":\"Status\",\"code\":404,\"reason\":\"NotFound\",\"message\":\"no\"}"
#define TAKEN "{\"kind\":\"Status\",\"code\":409,\"reason\":\"AlreadyExists\",\"message\":\"no\"}"
#define FORBIDDEN                                                                                  \
    "{\"kind\":\"Status\",\"code\":403,\"reason\":\"Forbidden\",\"message\":\"not you\"}"
#define EMPTY "{\"kind\":\"List\",\"metadata\":{\"resourceVersion\":\"5\"},\"items\":[]}"
#define CONFIGURATION                                                                              \
    "{\"kind\":\"ValidatingWebhookConfiguration\",\"metadata\":{\"name\":\"hook\"},\"webhooks\":[" \
    "{\"name\":\"a.example.org\",\"clientConfig\":{\"service\":{\"name\":\"hook\","                \
    "\"namespace\":\"default\"}}}]}"

/* What the API server has and has seen. */
struct rig {
    struct peer peer;
    struct webhook *webhook;
    char *secret; /* as JSON; NULL: there is none */
    int refuse;   /* so many creations: somebody else was faster */
    bool configured;
    bool forbidden; /* to read the configuration */
    int created;
    int updated;
    int trusted; /* patches of the configuration */
    bool trust_seen_first;
};

static void keep_secret(struct rig *r, struct http_exchange *x)
{
    struct str body = http_exchange_request(x)->body;

    free(r->secret);
    r->secret = xstrndup(body.p, body.n);
    peer_answer(x, 200, r->secret);
}

static void serve_secret(struct rig *r, struct http_exchange *x)
{
    const char *method = http_exchange_request(x)->method;

    if (streq(method, "GET")) {
        peer_answer(x, r->secret ? 200 : 404, r->secret ? r->secret : GONE);
    } else if (streq(method, "POST")) {
        r->created++;
        if (r->refuse-- > 0)
            peer_answer(x, 409, TAKEN);
        else
            keep_secret(r, x);
    } else {
        r->updated++;
        keep_secret(r, x);
    }
}

static void serve_configuration(struct rig *r, struct http_exchange *x)
{
    if (streq(http_exchange_request(x)->method, "GET")) {
        if (r->forbidden)
            peer_answer(x, 403, FORBIDDEN);
        else
            peer_answer(x, r->configured ? 200 : 404, r->configured ? CONFIGURATION : GONE);
        return;
    }
    r->trust_seen_first = !webhook_ready(r->webhook);
    r->trusted++;
    peer_answer(x, 200, CONFIGURATION);
}

static void serve(struct peer *p, struct http_exchange *x)
{
    const char *path = http_exchange_request(x)->path;

    if (strstr(path, "/namespaces/default/secrets"))
        serve_secret(p->arg, x);
    else if (strstr(path, "/validatingwebhookconfigurations/hook"))
        serve_configuration(p->arg, x);
    else
        peer_answer(x, 200, EMPTY);
}

static void rig_start(struct rig *r)
{
    struct webhook_options o = {.address = "127.0.0.1:0", .name = "hook"};
    struct err e = {0};

    peer_init(&r->peer, serve, NULL);
    r->peer.arg = r;
    if (webhook_new(r->peer.client, NULL, &o, &r->webhook, &e) < 0)
        fail_msg("%s", e.text);
}

static void rig_done(struct rig *r)
{
    (void)webhook_free(r->webhook);
    peer_done(&r->peer);
    free(r->secret);
}

static void run_until_ready(struct rig *r)
{
    for (int i = 0; i < 300 && !webhook_ready(r->webhook); i++)
        peer_run_for(&r->peer, 10);
    assert_true(webhook_ready(r->webhook));
}

static void a_secret_is_made_where_there_is_none(void **state)
{
    struct rig r = {0};

    (void)state;
    rig_start(&r);
    assert_false(webhook_ready(r.webhook));
    run_until_ready(&r);
    assert_int_equal(r.created, 1);
    assert_int_equal(r.trusted, 0);
    assert_true(webhook_port(r.webhook) > 0);
    rig_done(&r);
}

/* Two operators start at once: one makes the Secret, the other one takes it. */
static void the_secret_of_a_faster_one_is_taken(void **state)
{
    struct rig first = {0};
    struct rig r = {.refuse = 1};

    (void)state;
    rig_start(&first);
    run_until_ready(&first);
    rig_start(&r);
    peer_run_until(&r.peer, &r.created, 1);
    r.secret = xstrdup(first.secret);
    run_until_ready(&r);
    assert_int_equal(r.created, 1);
    assert_int_equal(r.updated, 0);
    assert_string_equal(r.secret, first.secret);
    rig_done(&r);
    rig_done(&first);
}

static void the_api_server_is_told_before_it_is_served(void **state)
{
    struct rig r = {.configured = true};

    (void)state;
    rig_start(&r);
    run_until_ready(&r);
    assert_int_equal(r.trusted, 1);
    assert_true(r.trust_seen_first);
    rig_done(&r);
}

/* Where cert-manager injects the authority, the operator need not be allowed to. */
static void trust_is_left_to_others_where_it_must_be(void **state)
{
    struct rig r = {.forbidden = true};

    (void)state;
    rig_start(&r);
    run_until_ready(&r);
    assert_int_equal(r.trusted, 0);
    rig_done(&r);
}

#define SECRET(labels)                                                                             \
    "{\"kind\":\"Secret\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"hook\",\"namespace\":"    \
    "\"default\",\"resourceVersion\":\"7\"" labels "},\"data\":{\"tls.crt\":\"eA==\","             \
    "\"tls.key\":\"eQ==\",\"ca.crt\":\"eg==\"}}"

static void keys_of_ours_that_are_not_good_are_replaced(void **state)
{
    struct rig r = {.secret = xstrdup(
                        SECRET(",\"labels\":{\"app.kubernetes.io/managed-by\":\"slurmkeeper\"}"))};

    (void)state;
    rig_start(&r);
    run_until_ready(&r);
    assert_int_equal(r.updated, 1);
    assert_non_null(strstr(r.secret, "\"resourceVersion\":\"7\""));
    rig_done(&r);
}

static void what_somebody_else_keeps_is_never_written(void **state)
{
    struct rig r = {.secret = xstrdup(SECRET("")), .configured = true};

    (void)state;
    rig_start(&r);
    while (r.peer.n_seen < 3)
        peer_run_for(&r.peer, 10);
    assert_false(webhook_ready(r.webhook));
    assert_int_equal(r.created + r.updated + r.trusted, 0);
    rig_done(&r);
}

/* Whoever thinks that a key has leaked deletes the Secret. */
static void a_deleted_secret_is_made_of_other_keys(void **state)
{
    struct rig r = {0};
    AUTO(free) char *first = NULL;

    (void)state;
    rig_start(&r);
    run_until_ready(&r);
    first = TAKE(r.secret);
    webhook_secret_changed(r.webhook, "default", "other");
    webhook_secret_changed(r.webhook, "default", "hook");
    peer_run_until(&r.peer, &r.created, 2);
    assert_non_null(r.secret);
    assert_string_not_equal(r.secret, first);
    rig_done(&r);
}

static void a_port_that_is_taken_is_told_at_once(void **state)
{
    struct rig r = {0};
    AUTO(free) char *address = NULL;
    struct webhook_options o = {.name = "hook"};
    struct webhook *second = NULL;
    struct err e = {0};

    (void)state;
    rig_start(&r);
    address = xasprintf("127.0.0.1:%d", webhook_port(r.webhook));
    o.address = address;
    assert_true(webhook_new(r.peer.client, NULL, &o, &second, &e) < 0);
    assert_true(starts_with(e.text, "webhook at '127.0.0.1:"));
    rig_done(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_secret_is_made_where_there_is_none),
        cmocka_unit_test(the_secret_of_a_faster_one_is_taken),
        cmocka_unit_test(the_api_server_is_told_before_it_is_served),
        cmocka_unit_test(trust_is_left_to_others_where_it_must_be),
        cmocka_unit_test(keys_of_ours_that_are_not_good_are_replaced),
        cmocka_unit_test(what_somebody_else_keeps_is_never_written),
        cmocka_unit_test(a_deleted_secret_is_made_of_other_keys),
        cmocka_unit_test(a_port_that_is_taken_is_told_at_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
