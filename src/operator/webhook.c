/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The validating webhook.
 *
 * POST /validate takes an AdmissionReview and answers it out of the caches; what they do not know
 * yet is held against nobody.  All operators answer, not only the one that leads.
 *
 * Its certificate lives in a Secret, which all operators share.  At the start, every few seconds
 * and whenever the Secret changes:
 *
 *   look:  read the Secret.  There is none: make it.  It is ours and does not last another 30 days,
 *          or lacks a name: replace it.  Somebody else was faster: look again.
 *   trust: read the ValidatingWebhookConfiguration of our name, if there is one; have it trust the
 *          Secret's authority.
 *   serve: new connections get the Secret's certificate.  After trust, so that the API server never
 *          sees a certificate that it has not been told of.
 *
 * What fails is tried again, with back-off; what was served before goes on being served.
 */
#include "src/operator/webhook.h"

#include "src/admission/review.h"
#include "src/base/alloc.h"
#include "src/base/log.h"
#include "src/http/server.h"
#include "src/kube/pace.h"

#define LOOK_MS 10000
#define SOON_MS 100
#define MAX_CONNECTIONS 64
/* An object and what it was, each of at most 1.5 MiB (etcd's limit), and a little around them. */
#define MAX_BODY_BYTES (4 << 20)
/* Of all that are being received; who comes next waits. */
#define MAX_BODIES_BYTES (16 << 20)

static const struct kube_resource secrets = {"", "v1", "secrets"};
static const struct kube_resource configurations = {"admissionregistration.k8s.io", "v1",
                                                    "validatingwebhookconfigurations"};

struct webhook {
    struct kube_client *client;
    const struct world *world;
    struct webhook_options options;
    struct webhook_name name;
    struct http_tls *tls;
    struct http_server *server;
    struct loop_source *timer;
    struct kube_call *call; /* under way; NULL: none */
    struct pace_backoff backoff;
    struct arena arena;        /* of the keys at hand; begun again with each look */
    struct webhook_keys keys;  /* read or made by this look */
    struct webhook_keys fresh; /* of the start, for a Secret that is not there; in first_arena */
    struct arena first_arena;
    char *served;    /* certificate that new connections get, once it was the Secret's */
    char *told;      /* what failed last; it is logged once */
    bool again;      /* look again when this look is over */
    bool trust_left; /* to others, since we may not */
};

static void look(void *arg);

static void reply(struct http_exchange *x, int status, const char *text)
{
    http_reply(x, status, "text/plain; charset=utf-8", NULL, str_of(text));
}

static bool is_json(const struct http_exchange *x)
{
    return starts_with(http_request_header(x, "Content-Type"), "application/json");
}

static void reply_review(struct webhook *w, struct http_exchange *x)
{
    AUTO(arena_done) struct arena a = {0};
    AUTO(buf_done) struct buf text = {0};
    struct world_view view = {w->world, &a};
    struct api_lookup lookup = world_lookup(&view);
    struct review_context context = {&lookup, w->options.release};
    struct jsn *body = NULL;
    struct jsn *answer = NULL;
    struct err e = {0};

    if (jsn_parse(&a, http_exchange_request(x)->body, NULL, &body, &e) < 0 ||
        review_answer(&a, body, &context, &answer, &e) < 0) {
        reply(x, 400, e.text);
        return;
    }
    jsn_print(&text, answer);
    http_reply(x, 200, "application/json", NULL, buf_view(&text));
}

static void on_request(void *arg, struct http_exchange *x)
{
    const struct http_request *r = http_exchange_request(x);
    struct webhook *w = arg;

    if (w->options.client_ca_pem && !r->tls_cn)
        reply(x, 403, "a client certificate is needed here\n");
    else if (!streq(r->path, "/validate"))
        reply(x, 404, "there is only /validate\n");
    else if (!streq(r->method, "POST"))
        reply(x, 405, "only POST is served here\n");
    else if (!is_json(x))
        reply(x, 415, "only application/json is taken here\n");
    else
        reply_review(w, x);
}

static void look_in(struct webhook *w, int64_t ms)
{
    loop_timer_arm(w->timer, w->again ? MIN(ms, (int64_t)SOON_MS) : ms);
    w->again = false;
}

static void look_failed(struct webhook *w, const struct err *e, const char *doing)
{
    int64_t delay = pace_backoff_next(&w->backoff);

    if (e->class == ERR_CONFLICT || streq(w->told, e->text))
        log_debug("webhook: %s: trying again in %lld ms: %s", doing, (long long)delay, e->text);
    else
        log_warn("webhook: %s failed, trying again: %s", doing, e->text);
    free(w->told);
    w->told = xstrdup(e->text);
    look_in(w, delay);
}

static void serve(struct webhook *w)
{
    struct err e = {0};

    if (!streq(w->served, w->keys.cert_pem)) {
        if (http_tls_renew(w->tls, w->keys.cert_pem, w->keys.key_pem, NULL, &e) < 0) {
            (void)err_wrap(&e, e.num, "Secret %s/%s", w->name.namespace, w->name.name);
            look_failed(w, &e, "using its certificate");
            return;
        }
        free(w->served);
        w->served = xstrdup(w->keys.cert_pem);
        log_info("webhook: serving with the certificate of Secret %s/%s", w->name.namespace,
                 w->name.name);
    }
    pace_backoff_reset(&w->backoff);
    free(TAKE(w->told));
    look_in(w, LOOK_MS);
}

static void start_call(struct webhook *w, struct kube_request q, kube_done_fn fn)
{
    q.fn = fn;
    q.arg = w;
    w->call = kube_call_start(w->client, &q);
}

/* We may not: somebody else sees to it, such as cert-manager's injector.  Said once. */
static void leave_trust(struct webhook *w, const struct err *e)
{
    if (!w->trust_left)
        log_warn("webhook: the caBundle of its ValidatingWebhookConfiguration is left to others: "
                 "%s",
                 e->text);
    w->trust_left = true;
}

static void on_trusted(void *arg, const struct kube_answer *answer, const struct kube_failure *f)
{
    struct webhook *w = arg;

    (void)answer;
    w->call = NULL;
    if (f && f->err.num != -EPERM) {
        look_failed(w, &f->err, "having its certificate trusted");
        return;
    }
    if (f)
        leave_trust(w, &f->err);
    else
        log_info("webhook: ValidatingWebhookConfiguration %s trusts it", w->name.name);
    serve(w);
}

static void on_configuration(void *arg, const struct kube_answer *answer,
                             const struct kube_failure *f)
{
    AUTO(arena_done) struct arena a = {0};
    struct webhook *w = arg;
    struct jsn *patch;

    w->call = NULL;
    if (f && f->err.num == -EPERM) {
        leave_trust(w, &f->err);
    } else if (f && f->err.num != -ENOENT) {
        look_failed(w, &f->err, "reading its ValidatingWebhookConfiguration");
        return;
    }
    patch = f ? NULL : webhook_trust_patch(&a, &w->name, answer->value, w->keys.bundle_pem);
    if (patch)
        start_call(w,
                   (struct kube_request){.verb = KUBE_PATCH_JSON,
                                         .resource = configurations,
                                         .name = w->name.name,
                                         .body = patch},
                   on_trusted);
    else
        serve(w);
}

static void trust(struct webhook *w)
{
    start_call(
        w,
        (struct kube_request){.verb = KUBE_GET, .resource = configurations, .name = w->name.name},
        on_configuration);
}

static void on_written(void *arg, const struct kube_answer *answer, const struct kube_failure *f)
{
    struct webhook *w = arg;

    (void)answer;
    w->call = NULL;
    if (f) {
        look_failed(w, &f->err, "writing its Secret");
        return;
    }
    log_info("webhook: made a certificate, Secret %s/%s", w->name.namespace, w->name.name);
    trust(w);
}

/* Write the keys at hand, in the place of `old` (NULL: there is none). */
static void write_secret(struct webhook *w, const struct jsn *old)
{
    start_call(
        w,
        (struct kube_request){.verb = old ? KUBE_UPDATE : KUBE_CREATE,
                              .resource = secrets,
                              .namespace = w->name.namespace,
                              .name = old ? w->name.name : NULL,
                              .body = webhook_keys_secret(&w->arena, &w->name, &w->keys, old)},
        on_written);
}

/* New keys in the place of those that are not good any more. */
static void replace(struct webhook *w, const struct jsn *old, const struct webhook_keys *before)
{
    struct err e = {0};

    if (webhook_keys_make(&w->arena, &w->name, before, &w->keys, &e) < 0)
        look_failed(w, &e, "making a certificate");
    else
        write_secret(w, old);
}

/* There is none.  Whoever deletes it wants other keys, and none of the old ones trusted. */
static void make_secret(struct webhook *w)
{
    if (w->served) {
        replace(w, NULL, NULL);
        return;
    }
    w->keys = w->fresh;
    write_secret(w, NULL);
}

static void on_secret(void *arg, const struct kube_answer *answer, const struct kube_failure *f)
{
    struct webhook *w = arg;
    struct webhook_keys keys = {0};
    struct err e = {0};
    bool ours;

    w->call = NULL;
    if (f && f->err.num == -ENOENT) {
        make_secret(w);
        return;
    }
    if (f) {
        look_failed(w, &f->err, "reading its Secret");
        return;
    }
    ours = webhook_keys_is_ours(answer->value);
    if (webhook_keys_decode(&w->arena, answer->value, &keys, &e) < 0) {
        (void)err_wrap(&e, e.num, "Secret %s/%s", w->name.namespace, w->name.name);
        if (ours)
            replace(w, answer->value, NULL);
        else
            look_failed(w, &e, "reading its Secret");
    } else if (ours && !webhook_keys_are_good(&w->arena, &w->name, &keys)) {
        replace(w, answer->value, &keys);
    } else {
        w->keys = keys;
        trust(w);
    }
}

static void look(void *arg)
{
    struct webhook *w = arg;

    arena_done(&w->arena);
    w->arena = (struct arena){0};
    start_call(w,
               (struct kube_request){.verb = KUBE_GET,
                                     .resource = secrets,
                                     .namespace = w->name.namespace,
                                     .name = w->name.name},
               on_secret);
}

static int start_server(struct webhook *w, struct err *e)
{
    struct http_server_options o = {.handler = on_request, .arg = w};
    int r = webhook_keys_make(&w->first_arena, &w->name, NULL, &w->fresh, e);

    o.limits.max_connections = MAX_CONNECTIONS;
    o.limits.max_body_bytes = MAX_BODY_BYTES;
    o.limits.max_bodies_bytes = MAX_BODIES_BYTES;
    if (r == 0)
        r = http_tls_new(w->fresh.cert_pem, w->fresh.key_pem, w->options.client_ca_pem, &w->tls, e);
    o.tls = w->tls;
    if (r == 0)
        r = http_server_new(kube_client_loop(w->client), &o, &w->server, e);
    if (r == 0)
        r = http_server_listen(w->server, w->options.address, e);
    return r < 0 ? err_wrap(e, r, "webhook at '%s'", w->options.address) : 0;
}

int webhook_new(struct kube_client *c, const struct world *world, const struct webhook_options *o,
                struct webhook **ret_webhook, struct err *e)
{
    AUTO(webhook_free) struct webhook *w = xcalloc(1, sizeof(*w));
    int r;

    w->client = c;
    w->world = world;
    w->options = *o;
    w->name = (struct webhook_name){o->name, kube_client_namespace(c), o->domain};
    w->backoff = (struct pace_backoff){SOON_MS, LOOK_MS, 0};
    w->timer = loop_add_timer(kube_client_loop(c), look, w);
    r = start_server(w, e);
    if (r < 0)
        return r;
    loop_timer_arm(w->timer, 0);
    *ret_webhook = TAKE(w);
    return 0;
}

struct webhook *webhook_free(struct webhook *w)
{
    if (!w)
        return NULL;
    if (w->call)
        kube_call_cancel(w->call);
    (void)loop_source_free(w->timer);
    (void)http_server_free(w->server);
    (void)http_tls_free(w->tls);
    arena_done(&w->arena);
    arena_done(&w->first_arena);
    free(w->served);
    free(w->told);
    free(w);
    return NULL;
}

int webhook_port(const struct webhook *w)
{
    return http_server_port(w->server);
}

bool webhook_ready(const struct webhook *w)
{
    return w->served != NULL;
}

void webhook_secret_changed(struct webhook *w, const char *ns, const char *name)
{
    if (!streq(ns, w->name.namespace) || !streq(name, w->name.name))
        return;
    if (w->call)
        w->again = true;
    else
        loop_timer_arm(w->timer, SOON_MS);
}
