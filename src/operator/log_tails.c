/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tails of logs.
 *
 * A plan asks for the end of a log and gets what was read last.  If that is old, the log is read
 * again meanwhile, and the object is planned for once more when the answer is there.  A tail is kept for as long
 * as its pod is asked for: what nobody has asked for in a minute is forgotten.  A log that cannot
 * be read (no such right, no container yet) is no failure of the plan: it knows less.
 */
#include "src/operator/log_tails.h"

#include "src/base/alloc.h"
#include "src/base/clock.h"
#include "src/base/log.h"
#include "src/base/map.h"

#define FRESH_MS 2000
#define FORGOTTEN_MS 60000
#define LINES "60"
#define MAX_BYTES "16384"

struct tail {
    struct log_tails *tails;
    struct kube_call *call; /* NULL: none under way */
    char *pod;
    char *key;
    char *text; /* NULL: not read */
    int64_t read_ms;
    int64_t asked_ms;
};

struct log_tails {
    struct kube_client *client;
    struct map by_pod; /* "uid/container" to struct tail */
    log_tails_fn read;
    void *arg;
};

static void tail_free(void *p)
{
    struct tail *t = p;

    if (t->call)
        kube_call_cancel(t->call);
    free(t->pod);
    free(t->key);
    free(t->text);
    free(t);
}

struct log_tails *log_tails_new(struct kube_client *c, log_tails_fn read, void *arg)
{
    struct log_tails *t = xcalloc(1, sizeof(*t));

    t->client = c;
    t->read = read;
    t->arg = arg;
    map_init(&t->by_pod, tail_free);
    return t;
}

struct log_tails *log_tails_free(struct log_tails *t)
{
    if (!t)
        return NULL;
    map_done(&t->by_pod);
    free(t);
    return NULL;
}

static void on_read(void *arg, const struct kube_answer *a, const struct kube_failure *f)
{
    struct tail *t = arg;

    t->call = NULL;
    t->read_ms = clock_mono_ms();
    if (f) {
        log_debug("log of pod %s: %s", t->pod, f->err.text);
        return;
    }
    free(t->text);
    t->text = xasprintf(STR_FMT, STR_ARG(a->text));
    t->tails->read(t->tails->arg, t->key);
}

static void start(struct tail *t, const char *ns, const char *container)
{
    const char *query[] = {"container",  container, "tailLines", LINES,
                           "limitBytes", MAX_BYTES, NULL};

    t->call =
        kube_call_start(t->tails->client, &(struct kube_request){.verb = KUBE_GET,
                                                                 .resource = {"", "v1", "pods"},
                                                                 .namespace = ns,
                                                                 .name = t->pod,
                                                                 .subresource = "log",
                                                                 .query = query,
                                                                 .deadline_ms = 5000,
                                                                 .once = true,
                                                                 .plain = true,
                                                                 .fn = on_read,
                                                                 .arg = t});
}

static void forget_old(struct log_tails *t, int64_t now_ms)
{
    struct str key;
    struct tail *tail;
    size_t at = 0;

    while (map_next(&t->by_pod, &at, &key, &tail))
        if (tail->asked_ms + FORGOTTEN_MS < now_ms)
            (void)map_del(&t->by_pod, key);
}

const char *log_tails_get(struct log_tails *t, const char *ns, const char *pod, const char *uid,
                          const char *container, const char *key)
{
    AUTO(free) char *id = xasprintf("%s/%s", uid ? uid : pod, container);
    struct tail *tail = map_get(&t->by_pod, str_of(id));
    int64_t now_ms = clock_mono_ms();

    if (!tail) {
        forget_old(t, now_ms);
        tail = xcalloc(1, sizeof(*tail));
        tail->tails = t;
        tail->pod = xstrdup(pod);
        tail->key = xstrdup(key);
        (void)map_put(&t->by_pod, str_of(id), tail);
    }
    tail->asked_ms = now_ms;
    if (!tail->call && (!tail->read_ms || tail->read_ms + FRESH_MS < now_ms))
        start(tail, ns, container);
    return tail->text;
}
