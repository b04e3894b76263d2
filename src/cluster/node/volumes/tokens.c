/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tokens for pods, by the TokenRequest API.
 *
 * A token is bound to its pod.  It is renewed when four fifths of its life are over, as a kubelet
 * does it; the pod's volumes are written again then.  Failures are tried again while the old token
 * is still good.  Tokens are kept in memory alone: a new node process asks for new ones.
 */
#include "src/cluster/node/volumes/tokens.h"

#include "src/base/alloc.h"
#include "src/base/clock.h"
#include "src/base/log.h"
#include "src/base/secret.h"
#include "src/cluster/node/pods/worker.h"

#define RETRY_MS 5000

struct token {
    struct tokens *tokens;
    char *uid;
    char *ns;
    char *pod;
    char *account;
    char *audience;
    int64_t seconds;
    struct secret value;
    struct kube_call *call;
    struct loop_source *timer;
};

struct tokens {
    struct node *node;
    struct map items; /* "uid/account/audience/seconds" -> struct token, owned */
};

static void ask(struct token *t);

static void free_token(void *p)
{
    struct token *t = p;

    if (t->call)
        kube_call_cancel(t->call);
    (void)loop_source_free(t->timer);
    secret_done(&t->value);
    free(t->uid);
    free(t->ns);
    free(t->pod);
    free(t->account);
    free(t->audience);
    free(t);
}

struct tokens *tokens_new(struct node *n)
{
    struct tokens *t = xcalloc(1, sizeof(*t));

    t->node = n;
    map_init(&t->items, free_token);
    return t;
}

struct tokens *tokens_free(struct tokens *t)
{
    if (t)
        map_done(&t->items);
    free(t);
    return NULL;
}

static void on_answer(void *arg, const struct kube_answer *a, const struct kube_failure *f)
{
    struct token *t = arg;
    const char *value = a ? jsn_get_str(a->value, "status.token") : NULL;
    struct worker *w = map_get(&t->tokens->node->workers, str_of(t->uid));

    t->call = NULL;
    if (!value) {
        log_debug("pod %s/%s: no token of service account %s: %s", t->ns, t->pod, t->account,
                  f ? f->err.text : "the answer holds none");
        loop_timer_arm(t->timer, RETRY_MS);
        return;
    }
    secret_set(&t->value, str_of(value));
    loop_timer_arm(t->timer, t->seconds * 800);
    if (w)
        worker_refresh_volumes(w);
}

static void ask(struct token *t)
{
    AUTO(arena_done) struct arena a = {0};
    struct jsn *body = jsn_object(&a);
    struct jsn *spec = jsn_ensure_object(&a, body, "spec");
    struct jsn *audiences = jsn_array(&a);
    struct jsn *pod = jsn_ensure_object(&a, spec, "boundObjectRef");
    struct kube_request r = {.verb = KUBE_CREATE,
                             .resource = {"", "v1", "serviceaccounts"},
                             .namespace = t->ns,
                             .name = t->account,
                             .subresource = "token",
                             .body = body,
                             .fn = on_answer,
                             .arg = t};

    jsn_set_str(&a, body, "apiVersion", "authentication.k8s.io/v1");
    jsn_set_str(&a, body, "kind", "TokenRequest");
    if (t->audience[0])
        jsn_append(&a, audiences, jsn_string(&a, t->audience));
    jsn_set(&a, spec, "audiences", audiences);
    jsn_set_int(&a, spec, "expirationSeconds", t->seconds);
    jsn_set_str(&a, pod, "apiVersion", "v1");
    jsn_set_str(&a, pod, "kind", "Pod");
    jsn_set_str(&a, pod, "name", t->pod);
    jsn_set_str(&a, pod, "uid", t->uid);
    t->call = kube_call_start(t->tokens->node->client, &r);
}

static void on_timer(void *arg)
{
    struct token *t = arg;

    if (!t->call)
        ask(t);
}

const char *tokens_get(struct tokens *ts, struct arena *a, const struct pod_spec *p,
                       const char *account, const char *audience, int64_t seconds)
{
    AUTO(free)
    char *key = xasprintf("%s/%s/%s/%lld", p->uid, account, audience, (long long)seconds);
    struct token *t = map_get(&ts->items, str_of(key));

    if (!t) {
        t = xcalloc(1, sizeof(*t));
        *t = (struct token){.tokens = ts,
                            .uid = xstrdup(p->uid),
                            .ns = xstrdup(p->ns),
                            .pod = xstrdup(p->name),
                            .account = xstrdup(account),
                            .audience = xstrdup(audience),
                            .seconds = MAX(seconds, 600)};
        t->timer = loop_add_timer(ts->node->loop, on_timer, t);
        (void)map_put(&ts->items, str_of(key), t);
        ask(t);
    }
    return secret_empty(&t->value) ? NULL : arena_strdup(a, secret_expose(&t->value));
}

void tokens_forget(struct tokens *ts, const char *uid)
{
    struct str key;
    size_t at = 0;
    AUTO(free) char *prefix = xasprintf("%s/", uid);

    while (ts && map_next(&ts->items, &at, &key, NULL))
        if (str_starts(key, prefix))
            (void)map_del(&ts->items, key);
}
