/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Metrics and health.
 *
 * /healthz answers as long as the loop turns.  /readyz answers 200 once all caches are filled;
 * until then it says what is waited for.  Everything else is 404.
 */
#include "src/operator/metrics.h"

#include "src/base/alloc.h"
#include "src/http/server.h"

#define MAX_CONNECTIONS 64
#define MAX_HEAD_BYTES 16384

struct metrics {
    struct prometheus *registry;
    struct http_server *server;
    struct metrics_source source;
    struct prometheus_metric *reconciles;
    struct prometheus_metric *seconds;
    struct prometheus_metric *writes;
    struct prometheus_metric *waiting;
    struct prometheus_metric *running;
    struct prometheus_metric *objects;
    struct prometheus_metric *bytes;
    struct prometheus_metric *leads;
    struct prometheus_metric *agents;
};

static void reply(struct http_exchange *x, int status, const char *text)
{
    http_reply(x, status, "text/plain; charset=utf-8", NULL, str_of(text));
}

static void reply_ready(struct metrics *m, struct http_exchange *x)
{
    char why[160] = "";

    if (m->source.ready(m->source.arg, why, sizeof(why)))
        reply(x, 200, "ok\n");
    else
        reply(x, 503, why);
}

static void reply_metrics(struct metrics *m, struct http_exchange *x)
{
    AUTO(buf_done) struct buf b = {0};

    prometheus_print(m->registry, &b);
    http_reply(x, 200, PROMETHEUS_CONTENT_TYPE, NULL, buf_view(&b));
}

static void on_request(void *arg, struct http_exchange *x)
{
    const struct http_request *r = http_exchange_request(x);
    struct metrics *m = arg;

    if (!streq(r->method, "GET") && !streq(r->method, "HEAD"))
        reply(x, 405, "only GET is served here\n");
    else if (streq(r->path, "/healthz") || streq(r->path, "/livez"))
        reply(x, 200, "ok\n");
    else if (streq(r->path, "/readyz"))
        reply_ready(m, x);
    else if (streq(r->path, "/metrics"))
        reply_metrics(m, x);
    else
        reply(x, 404, "there are /healthz, /readyz and /metrics\n");
}

/* Nobody has credentials here: all share what is for strangers. */
static void on_head(void *arg, const struct http_exchange *x, struct http_verdict *v)
{
    (void)arg;
    (void)x;
    v->known = false;
}

static void register_all(struct metrics *m)
{
    struct prometheus *p = m->registry;

    m->reconciles = prometheus_counter(p, "slurmkeeper_reconciles_total",
                                       "Plans made and carried out.", "kind,result");
    m->seconds = prometheus_histogram(p, "slurmkeeper_reconcile_seconds",
                                      "From taking a key to the end of its plan.", "kind",
                                      prometheus_seconds, prometheus_n_seconds);
    m->writes = prometheus_counter(p, "slurmkeeper_api_writes_total", "Writes to the API server.",
                                   "verb,kind,code");
    m->waiting = prometheus_gauge(p, "slurmkeeper_queue_waiting", "Keys that wait.", NULL);
    m->running = prometheus_gauge(p, "slurmkeeper_queue_running", "Keys being worked on.", NULL);
    m->objects = prometheus_gauge(p, "slurmkeeper_objects", "Objects in the caches.", "kind");
    m->bytes = prometheus_gauge(p, "slurmkeeper_cache_bytes", "Memory of the caches.", NULL);
    m->leads = prometheus_gauge(p, "slurmkeeper_leader", "1 while this process leads.", NULL);
    m->agents =
        prometheus_gauge(p, "slurmkeeper_agents",
                         "Agents of Controllers, by whether Slurm's state is known.", "state");
    prometheus_on_print(p, m->source.gauges, m->source.arg);
}

int metrics_new(struct loop *l, const char *address, const struct metrics_source *s,
                struct metrics **ret_metrics, struct err *e)
{
    AUTO(metrics_free) struct metrics *m = xcalloc(1, sizeof(*m));
    struct http_server_options o = {
        .handler = on_request,
        .head = on_head,
        .arg = m,
        .limits = {.max_connections = MAX_CONNECTIONS,
                   .max_strangers = MAX_CONNECTIONS,
                   .max_stranger_bytes = (size_t)MAX_CONNECTIONS * MAX_HEAD_BYTES,
                   .max_header_bytes = MAX_HEAD_BYTES,
                   .max_stranger_body_bytes = 1024},
        .distrust = true};
    int r = 0;

    m->source = *s;
    m->registry = prometheus_new();
    register_all(m);
    if (address)
        r = http_server_new(l, &o, &m->server, e);
    if (r == 0 && address)
        r = http_server_listen(m->server, address, e);
    if (r < 0)
        return err_wrap(e, r, "metrics at '%s'", address);
    *ret_metrics = TAKE(m);
    return 0;
}

struct metrics *metrics_free(struct metrics *m)
{
    if (!m)
        return NULL;
    (void)http_server_free(m->server);
    (void)prometheus_free(m->registry);
    free(m);
    return NULL;
}

int metrics_port(const struct metrics *m)
{
    return m->server ? http_server_port(m->server) : 0;
}

void metrics_reconciled(struct metrics *m, const char *kind, const char *result, double seconds)
{
    prometheus_add(prometheus_series(m->reconciles, PROMETHEUS_LABELS(kind, result)), 1);
    prometheus_observe(prometheus_series(m->seconds, PROMETHEUS_LABELS(kind)), seconds);
}

void metrics_wrote(struct metrics *m, const struct action *a, const struct kube_failure *f)
{
    static const char *const verbs[] = {"create", "patch", "delete", "status", "", ""};
    AUTO(free) char *code = f ? xasprintf("%d", f->code) : xstrdup("ok");

    prometheus_add(
        prometheus_series(m->writes, PROMETHEUS_LABELS(verbs[a->verb], a->kind->kind, code)), 1);
}

void metrics_queue(struct metrics *m, size_t waiting, size_t running)
{
    prometheus_set(prometheus_series(m->waiting, NULL), (double)waiting);
    prometheus_set(prometheus_series(m->running, NULL), (double)running);
}

void metrics_objects(struct metrics *m, const char *kind, size_t n)
{
    prometheus_set(prometheus_series(m->objects, PROMETHEUS_LABELS(kind)), (double)n);
}

void metrics_cache_bytes(struct metrics *m, size_t bytes)
{
    prometheus_set(prometheus_series(m->bytes, NULL), (double)bytes);
}

void metrics_leads(struct metrics *m, bool leads)
{
    prometheus_set(prometheus_series(m->leads, NULL), leads);
}

void metrics_agents(struct metrics *m, size_t linked, size_t known)
{
    prometheus_set(prometheus_series(m->agents, PROMETHEUS_LABELS("known")), (double)known);
    prometheus_set(prometheus_series(m->agents, PROMETHEUS_LABELS("unknown")),
                   (double)(linked - known));
}
