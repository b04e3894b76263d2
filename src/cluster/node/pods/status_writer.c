/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writing the status of a pod.
 *
 * One call at a time; what changes meanwhile waits and is sent as one.  A strategic patch merges
 * conditions by type, so that those of others stay; with the uid in it a pod of the same name that
 * came later is not touched.  Failures are tried again for ever, ever slower: pods run on while the
 * API server is away, and it learns everything when it is back.
 */
#include "src/cluster/node/pods/status_writer.h"

#include "src/base/alloc.h"
#include "src/base/log.h"
#include "src/kube/pace.h"

struct status_writer {
    struct kube_client *client;
    char *ns;
    char *name;
    char *uid;
    char *wanted; /* text of the status to be */
    char *sent;   /* text of the last one sent */
    bool settled; /* the API has taken `sent` */
    struct kube_call *call;
    struct loop_source *timer;
    struct pace_backoff backoff;
    loop_defer_fn gone;
    void *arg;
};

static void send(struct status_writer *w);

static void on_timer(void *arg)
{
    send(arg);
}

struct status_writer *status_writer_new(struct kube_client *c, const char *ns, const char *name,
                                        const char *uid, loop_defer_fn gone, void *arg)
{
    struct status_writer *w = xcalloc(1, sizeof(*w));

    w->client = c;
    w->ns = xstrdup(ns);
    w->name = xstrdup(name);
    w->uid = xstrdup(uid);
    w->gone = gone;
    w->arg = arg;
    w->backoff = (struct pace_backoff){.first_ms = 200, .max_ms = 10000};
    w->timer = loop_add_timer(kube_client_loop(c), on_timer, w);
    return w;
}

struct status_writer *status_writer_free(struct status_writer *w)
{
    if (!w)
        return NULL;
    if (w->call)
        kube_call_cancel(w->call);
    (void)loop_source_free(w->timer);
    free(w->ns);
    free(w->name);
    free(w->uid);
    free(w->wanted);
    free(w->sent);
    free(w);
    return NULL;
}

static void on_done(void *arg, const struct kube_answer *a, const struct kube_failure *f)
{
    struct status_writer *w = arg;
    int64_t delay;

    (void)a;
    w->call = NULL;
    if (!f) {
        pace_backoff_reset(&w->backoff);
        w->settled = true;
        if (w->wanted && !streq(w->wanted, w->sent))
            send(w);
        return;
    }
    if (f->err.num == -ENOENT || (f->err.num == -ESTALE || f->err.num == -EEXIST)) {
        w->settled = true;
        w->gone(w->arg);
        return;
    }
    delay = pace_backoff_next(&w->backoff);
    log_warn("pod %s/%s: status not written, trying again in %lld ms: %s", w->ns, w->name,
             (long long)delay, f->err.text);
    loop_timer_arm(w->timer, delay);
}

static void send(struct status_writer *w)
{
    static const char patch[] = "{\"metadata\":{\"uid\":\"%s\"},\"status\":%s}";
    AUTO(arena_done) struct arena a = {0};
    AUTO(free) char *text = xasprintf(patch, w->uid, w->wanted);
    struct jsn *body;
    struct kube_request r = {.verb = KUBE_PATCH_STRATEGIC,
                             .resource = {"", "v1", "pods"},
                             .namespace = w->ns,
                             .name = w->name,
                             .subresource = "status",
                             .fn = on_done,
                             .arg = w};

    if (jsn_parse(&a, str_of(text), NULL, &body, NULL) < 0)
        return;
    r.body = body;
    free(w->sent);
    w->sent = xstrdup(w->wanted);
    w->settled = false;
    w->call = kube_call_start(w->client, &r);
}

void status_writer_set(struct status_writer *w, const struct jsn *status)
{
    AUTO(buf_done) struct buf b = {0};

    jsn_print(&b, status);
    if (w->wanted && str_eq(buf_view(&b), str_of(w->wanted)))
        return;
    free(w->wanted);
    w->wanted = buf_take(&b);
    if (!w->call && !loop_timer_armed(w->timer))
        send(w);
}

bool status_writer_settled(const struct status_writer *w)
{
    return w->wanted && w->sent && w->settled && !w->call && streq(w->wanted, w->sent);
}
