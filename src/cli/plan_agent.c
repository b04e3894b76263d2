/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a cluster's agent says to a plan.
 *
 * The agent is in slurmctld's pod, at the pod's own address; a Secret has its certificate, which is
 * the only one that is trusted, and the token.  From a machine that does not reach pods, or without
 * the right to read the Secret, it cannot be asked; the caller then compares files.
 */
#include "src/base/alloc.h"
#include "src/base/encode.h"
#include "src/build/labels.h"
#include "src/build/secrets.h"
#include "src/cli/plan.h"
#include "src/http/client.h"
#include "src/plan/pods.h"
#include "src/wire/declaration.h"
#include "src/wire/outcome.h"
#include "src/wire/state.h"

#define CONNECT_MS 2000
/* A plan may have slurmctld rehearse the files. */
#define PLAN_MS 60000
#define MAX_ANSWER_BYTES ((size_t)64 << 20)

struct plan_agent {
    struct loop *loop;
    struct http_client *client;
    char *base;
    char *token;
    char *cert;
    char *host;
};

struct waiting {
    struct arena *a;
    int status;
    struct jsn *value;
    struct err e;
    bool done;
};

static void on_done(void *arg, const struct http_answer *answer, const struct err *e)
{
    struct waiting *w = arg;

    w->done = true;
    if (e) {
        w->e = *e;
        return;
    }
    w->status = answer->status;
    if (jsn_parse(w->a, answer->body, NULL, &w->value, &w->e) < 0)
        (void)err_wrap(&w->e, w->e.num, "the agent's answer (%d)", answer->status);
}

/* *ret_value is in `a`.  Any answer in JSON is a success; its status tells more. */
static int call(struct plan_agent *g, const char *method, const char *path, struct str body,
                struct arena *a, int *ret_status, struct jsn **ret_value, struct err *e)
{
    static const char *const headers[] = {"Content-Type: application/json", NULL};
    const struct http_client_tls tls = {.ca_pem = g->cert, .server_name = g->host};
    struct waiting w = {.a = a};
    struct http_call_options o = {
        .method = method,
        .url = arena_printf(a, "%s%s", g->base, path),
        .headers = headers,
        .bearer_token = g->token,
        .body = body,
        .tls = &tls,
        .deadline_ms = PLAN_MS,
        .connect_timeout_ms = CONNECT_MS,
        .max_body_bytes = MAX_ANSWER_BYTES,
        .on_done = on_done,
        .arg = &w,
    };

    (void)http_client_call(g->client, &o);
    while (!w.done)
        (void)loop_turn(g->loop, -1);
    if (w.e.num) {
        *e = w.e;
        return w.e.num;
    }
    *ret_status = w.status;
    *ret_value = w.value;
    return 0;
}

struct plan_agent *plan_agent_free(struct plan_agent *g)
{
    if (!g)
        return NULL;
    (void)http_client_free(g->client);
    (void)loop_free(g->loop);
    free(g->base);
    free(g->token);
    free(g->cert);
    free(g->host);
    free(g);
    return NULL;
}

/* The address of slurmctld's pod: of the one that the Service leads to, or else of any. */
static const char *pod_address(const struct jsn *pods)
{
    const char *found = NULL;

    JSN_FOR_ITEMS (pod, pods) {
        const char *ip = jsn_get_str(pod, "status.podIP");
        const struct jsn *active = jsn_member(jsn_get(pod, "metadata.labels"), STR(LABEL_ACTIVE));

        if (ip && ip[0] && (!found || streq(jsn_text(active), "true")))
            found = ip;
    }
    return found;
}

static int find_pod(struct plan_world *w, const char *ns, const char *name, const char **ret_ip,
                    struct err *e)
{
    const char *query[] = {"labelSelector", labels_selector_text(w->a, APP_CONTROLLER, name), NULL};
    struct kube_request r = {
        .verb = KUBE_LIST, .resource = {"", "v1", "pods"}, .namespace = ns, .query = query};
    struct jsn *list = NULL;
    int n = ask_call(w->ask, &r, w->a, &list, e);

    if (n < 0)
        return n;
    *ret_ip = pod_address(jsn_key(list, "items"));
    return *ret_ip ? 0 : err_set(e, -ENOENT, ERR_RETRY, "slurmctld has no running pod");
}

static char *secret_text(const struct jsn *secret, const char *key)
{
    const struct jsn *value = jsn_member(jsn_key(secret, "data"), str_of(key));
    AUTO(buf_done) struct buf text = {0};

    if (!jsn_is(value, JSN_STRING) || decode_base64(&text, value->s) < 0)
        return NULL;
    return xstrdup(buf_str(&text));
}

/* Both are trusted while the agent's certificate is renewed.  Takes and returns owned text. */
static char *with_previous(char *cert, char *previous)
{
    char *both = cert && previous ? xasprintf("%s\n%s", cert, previous) : NULL;

    free(previous);
    if (!both)
        return cert;
    free(cert);
    return both;
}

int plan_agent_find(struct plan_world *w, const char *ns, const char *name,
                    struct plan_agent **ret_agent, struct err *e)
{
    static const struct kube_resource secrets = {"", "v1", "secrets"};
    AUTO(plan_agent_free) struct plan_agent *g = xcalloc(1, sizeof(*g));
    const char *ip = NULL;
    struct jsn *secret = NULL;
    int r = ask_get(w->ask, w->a, &secrets, ns, labels_agent(w->a, name), &secret, e);

    if (r == -ENOENT)
        return err_set(e, -ENOENT, ERR_PERMANENT, "the cluster has no agent");
    if (r == 0)
        r = find_pod(w, ns, name, &ip, e);
    if (r < 0)
        return r;
    g->token = secret_text(secret, AGENT_TOKEN);
    g->cert = secret_text(secret, AGENT_CERT);
    g->cert = with_previous(g->cert, secret_text(secret, AGENT_PREVIOUS));
    if (!g->token || !g->cert)
        return err_bad(e, "Secret %s lacks %s or %s", labels_agent(w->a, name), AGENT_TOKEN,
                       AGENT_CERT);
    g->host = xstrdup(labels_agent_host(w->a, name, ns));
    g->base = xasprintf(strchr(ip, ':') ? "https://[%s]:%d" : "https://%s:%d", ip, AGENT_PORT);
    r = loop_new(&g->loop, e);
    if (r == 0)
        r = http_client_new(g->loop, &g->client, e);
    if (r == 0)
        *ret_agent = TAKE(g);
    return r;
}

const struct jsn *plan_agent_state(struct plan_agent *g, struct arena *a)
{
    struct jsn *state = NULL;
    struct err e = {0};
    int status;

    return call(g, "GET", "/v1/state?wait=0", STR(""), a, &status, &state, &e) == 0 && status == 200
               ? state
               : NULL;
}

uint32_t plan_state_release(const struct jsn *state)
{
    AUTO(arena_done) struct arena a = {0};
    struct wire_slurmctld slurmctld = {0};
    uint32_t release = 0;

    if (fields_decode(&a, wire_slurmctld_fields, jsn_key(state, "slurmctld"), &slurmctld, NULL) < 0)
        return 0;
    return slurmctld.release && release_parse(str_of(slurmctld.release), &release, NULL) == 0
               ? release
               : 0;
}

static enum change_class class_of(const char *name)
{
    for (int i = CHANGE_NONE; i <= CHANGE_RESTART; i++)
        if (streq(name, change_class_name((enum change_class)i)))
            return (enum change_class)i;
    return CHANGE_RPC;
}

static void take_changes(struct arena *a, const struct wire_outcome *o, struct plan_cluster *c)
{
    for (size_t i = 0; i < o->changes.n; i++)
        plan_change_add(a, c, class_of(o->changes.items[i].class), o->changes.items[i].change,
                        o->changes.items[i].why);
    for (size_t i = 0; c->n == 0 && i < o->steps.n; i++)
        if (o->steps.items[i].what)
            plan_change_add(a, c, class_of(o->steps.items[i].step), o->steps.items[i].what, NULL);
    if (o->class)
        c->class = class_of(o->class);
}

static const char *refusal(struct arena *a, const struct wire_outcome *o)
{
    AUTO(buf_done) struct buf b = {0};

    buf_adds(&b, o->error ? o->error : "it does not say why");
    for (size_t i = 0; i < o->problems.n; i++) {
        if (o->problems.items[i].severity == WIRE_WARNING)
            continue;
        buf_addc(&b, '\n');
        wire_problem_print(&o->problems.items[i], &b);
    }
    return arena_strdup(a, buf_str(&b));
}

static void take_warnings(struct arena *a, const struct wire_outcome *o, struct plan_cluster *c)
{
    for (size_t i = 0; i < o->problems.n; i++) {
        AUTO(buf_done) struct buf b = {0};

        if (o->problems.items[i].severity != WIRE_WARNING)
            continue;
        wire_problem_print(&o->problems.items[i], &b);
        jsn_append(a, c->warnings, jsn_string(a, buf_str(&b)));
    }
}

int plan_agent_ask(struct plan_agent *g, struct arena *a, const struct jsn *push,
                   struct plan_cluster *c, struct err *e)
{
    AUTO(buf_done) struct buf body = {0};
    struct wire_outcome o = {.result = -1};
    struct jsn *answer = NULL;
    int status = 0;
    int r;

    jsn_print(&body, wire_declaration_seal(a, push, 0));
    r = call(g, "POST", "/v1/plan", buf_view(&body), a, &status, &answer, e);
    if (r == 0)
        r = wire_outcome_decode(a, answer, &o, e);
    if (r < 0)
        return r;
    if (status != 200 && status != 422)
        return err_set(e, -EREMOTEIO, ERR_RETRY, "the agent answers %d: %s", status,
                       refusal(a, &o));
    c->source = "agent";
    take_warnings(a, &o, c);
    if (status == 422)
        c->refused = refusal(a, &o);
    else
        take_changes(a, &o, c);
    return 0;
}
