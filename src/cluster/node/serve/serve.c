/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * STATE/node.sock: who may open it (root) may look into pods.
 *
 * The API server has checked the user and the pod and passes the request on as it came, with the
 * path cut down to what matters here.  Sessions (exec, attach, port-forward) speak SPDY or
 * WebSocket with the client themselves; the API server only carries bytes.
 */
#include "src/cluster/node/serve/serve.h"

#include <stdarg.h>

#include "src/base/alloc.h"
#include "src/cluster/node/pods/worker.h"

void serve_refuse(struct http_exchange *x, int code, const char *reason, const char *fmt, ...)
{
    AUTO(arena_done) struct arena a = {0};
    AUTO(buf_done) struct buf b = {0};
    AUTO(free) char *message = NULL;
    struct jsn *s = jsn_object(&a);
    va_list ap;

    va_start(ap, fmt);
    message = xvasprintf(fmt, ap);
    va_end(ap);
    jsn_set_str(&a, s, "kind", "Status");
    jsn_set_str(&a, s, "apiVersion", "v1");
    jsn_set(&a, s, "metadata", jsn_object(&a));
    jsn_set_str(&a, s, "status", "Failure");
    jsn_set_str(&a, s, "message", message);
    jsn_set_str(&a, s, "reason", reason);
    jsn_set_int(&a, s, "code", code);
    jsn_print(&b, s);
    http_reply(x, code, "application/json", NULL, buf_view(&b));
}

/* The container named, else the default one. */
static struct container *find_container(struct worker *w, const char *name)
{
    const char *standard = jsn_text(jsn_key(jsn_get(w->spec->json, "metadata.annotations"),
                                            "kubectl.kubernetes.io/default-container"));
    int i = -1;

    if (name && name[0])
        i = pod_spec_find(w->spec, name);
    else if (standard)
        i = pod_spec_find(w->spec, standard);
    else if (w->spec->n > w->spec->n_init)
        i = (int)w->spec->n_init;
    return i >= 0 ? &w->ctrs[i] : NULL;
}

static void serve_container(struct worker *w, struct http_exchange *x, const char *what,
                            const char *name, const struct url_query *q)
{
    struct container *c = find_container(w, name);

    if (!c)
        serve_refuse(x, 400, "BadRequest", "container %s is not valid for pod %s", name ? name : "",
                     w->spec->name);
    else if (streq(what, "logs"))
        serve_logs(c, x, q);
    else if (streq(what, "exec"))
        serve_exec(c, x, q);
    else
        serve_attach(c, x, q);
}

static void on_request(void *arg, struct http_exchange *x)
{
    struct node *n = arg;
    const struct http_request *r = http_exchange_request(x);
    AUTO(url_path_done) struct url_path path = {0};
    AUTO(url_query_done) struct url_query query = {0};
    struct err e = {0};
    const char *what;
    struct worker *w;

    if (url_path_parse(r->path, &path, &e) < 0 || url_query_parse(r->query, &query, &e) < 0) {
        serve_refuse(x, 400, "BadRequest", "%s", e.text);
        return;
    }
    what = path.n >= 3 ? path.segments[0] : "";
    if (!streq(what, "logs") && !streq(what, "exec") && !streq(what, "attach") &&
        !streq(what, "portforward")) {
        serve_refuse(x, 404, "NotFound", "there is nothing at %s", r->path);
        return;
    }
    w = node_find(n, path.segments[1], path.segments[2]);
    if (!w)
        serve_refuse(x, 404, "NotFound", "pod %s/%s does not run on node %s", path.segments[1],
                     path.segments[2], n->name);
    else if (streq(what, "portforward"))
        serve_port_forward(w, x, &query);
    else
        serve_container(w, x, what, path.n > 3 ? path.segments[3] : NULL, &query);
}

int serve_open(struct node *n, struct err *e)
{
    AUTO(free) char *address = xasprintf("unix:%s/node.sock", n->state_dir);
    struct http_server_options o = {.handler = on_request, .arg = n};
    int r = http_server_new(n->loop, &o, &n->server, e);

    return r < 0 ? r : http_server_listen(n->server, address, e);
}
