/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The event recorder.
 *
 * Each event is a record: created on the server the first time, patched (count, time, message) when
 * it happens again.  A record has at most one call under way; what happens meanwhile is in its
 * counters and goes out with the next one, so that a storm of equal events costs one patch per
 * round trip.  Calls wait in a queue, a few are under way at a time.
 *
 * A failed call is made again with back-off where that may help; an event that somebody deleted (or
 * that expired) is created again; the rest is dropped: events are a courtesy, never a reason to
 * wait.
 */
#include "src/kube/event.h"

#include "src/base/alloc.h"
#include "src/base/clock.h"
#include "src/kube/correlate.h"
#include "src/kube/pace.h"

#define MAX_UNDER_WAY 4
#define MAX_PENDING 1000
#define MAX_TRIES 12
#define MESSAGE_MAX_BYTES 1024
#define NAME_MAX_BYTES 253
#define NAME_TAIL_BYTES 17 /* a dot and 64 bits of hex */

struct record {
    struct lru_node node;
    struct kube_recorder *recorder;
    struct list queued;   /* in recorder->queue */
    struct arena strings; /* all but the message, which changes */
    const char *namespace;
    const char *name;
    struct kube_reference about;
    enum kube_event_type type;
    const char *reason;
    char *message;
    int64_t first_us;
    int64_t last_us;
    int64_t count;
    bool created;
    bool changed; /* since it was last sent */
    int tries;
    struct pace_backoff backoff;
    struct kube_call *call;
    struct loop_source *timer; /* while it waits to try again */
};

struct kube_recorder {
    struct kube_client *client;
    char *component;
    char *host;
    struct correlator correlator;
    struct lru records;
    struct list queue;
    size_t pending;
    size_t under_way;
    size_t dropped;
};

static const struct kube_resource events = {"", "v1", "events"};

static void pump(struct kube_recorder *r);

static void record_free(struct lru_node *n)
{
    struct record *rec = CONTAINER_OF(n, struct record, node);

    if (rec->call)
        kube_call_cancel(rec->call);
    list_remove(&rec->queued);
    (void)loop_source_free(rec->timer);
    free(rec->message);
    arena_done(&rec->strings);
    free(rec);
}

struct kube_recorder *kube_recorder_new(struct kube_client *c, const char *component,
                                        const char *host)
{
    struct kube_recorder *r = xcalloc(1, sizeof(*r));

    r->client = c;
    r->component = xstrdup(component);
    r->host = xstrdup_null(host);
    correlator_init(&r->correlator);
    lru_init(&r->records, CORRELATE_MAX_REMEMBERED, record_free);
    list_init(&r->queue);
    return r;
}

struct kube_recorder *kube_recorder_free(struct kube_recorder *r)
{
    if (!r)
        return NULL;
    lru_done(&r->records);
    correlator_done(&r->correlator);
    free(r->component);
    free(r->host);
    free(r);
    return NULL;
}

size_t kube_recorder_pending(const struct kube_recorder *r)
{
    return r->pending;
}

size_t kube_recorder_dropped(const struct kube_recorder *r)
{
    return r->dropped;
}

/* "name.16f3c2a1b4d5e6f7", as client-go names them; a long name is cut. */
static char *event_name(const char *name, int64_t wall_us)
{
    size_t n = MIN(strlen(name), (size_t)(NAME_MAX_BYTES - NAME_TAIL_BYTES));

    while (n > 0 && (name[n - 1] == '.' || name[n - 1] == '-'))
        n--;
    return xasprintf("%.*s.%llx", (int)n, name, (unsigned long long)wall_us * 1000);
}

static void set_text(struct arena *a, struct jsn *o, const char *key, const char *text)
{
    if (text && *text)
        jsn_set_str(a, o, key, text);
}

static void set_time(struct arena *a, struct jsn *o, const char *key, int64_t wall_us)
{
    char text[CLOCK_RFC3339_LEN];

    clock_rfc3339(wall_us, text);
    jsn_set_str(a, o, key, text);
}

static struct jsn *reference_object(struct arena *a, const struct kube_reference *ref)
{
    struct jsn *o = jsn_object(a);

    set_text(a, o, "apiVersion", ref->api_version);
    set_text(a, o, "kind", ref->kind);
    set_text(a, o, "namespace", ref->namespace);
    set_text(a, o, "name", ref->name);
    set_text(a, o, "uid", ref->uid);
    set_text(a, o, "resourceVersion", ref->version);
    set_text(a, o, "fieldPath", ref->field_path);
    return o;
}

static struct jsn *event_object(struct arena *a, const struct record *rec)
{
    const struct kube_recorder *r = rec->recorder;
    struct jsn *o = jsn_object(a);
    struct jsn *metadata;
    struct jsn *source;

    jsn_set_str(a, o, "apiVersion", "v1");
    jsn_set_str(a, o, "kind", "Event");
    metadata = jsn_ensure_object(a, o, "metadata");
    jsn_set_str(a, metadata, "name", rec->name);
    jsn_set_str(a, metadata, "namespace", rec->namespace);
    jsn_set(a, o, "involvedObject", reference_object(a, &rec->about));
    jsn_set_str(a, o, "reason", rec->reason);
    jsn_set_str(a, o, "message", rec->message);
    source = jsn_ensure_object(a, o, "source");
    jsn_set_str(a, source, "component", r->component);
    set_text(a, source, "host", r->host);
    set_time(a, o, "firstTimestamp", rec->first_us);
    set_time(a, o, "lastTimestamp", rec->last_us);
    jsn_set_int(a, o, "count", rec->count);
    jsn_set_str(a, o, "type", rec->type == KUBE_EVENT_WARNING ? "Warning" : "Normal");
    jsn_set_str(a, o, "reportingComponent", r->component);
    jsn_set_str(a, o, "reportingInstance", r->host ? r->host : "");
    return o;
}

static struct jsn *event_patch(struct arena *a, const struct record *rec)
{
    struct jsn *o = jsn_object(a);

    jsn_set_int(a, o, "count", rec->count);
    set_time(a, o, "lastTimestamp", rec->last_us);
    jsn_set_str(a, o, "message", rec->message);
    return o;
}

/* Nothing more to send for now. */
static void settle(struct record *rec)
{
    rec->node.pinned = false;
    rec->tries = 0;
    pace_backoff_reset(&rec->backoff);
    rec->recorder->pending--;
}

static void enqueue(struct record *rec)
{
    list_append(&rec->recorder->queue, &rec->queued);
    pump(rec->recorder);
}

static void retry(void *arg)
{
    enqueue(arg);
}

static void try_later(struct record *rec, const struct kube_failure *f)
{
    struct kube_recorder *r = rec->recorder;
    bool helps = f->err.class != ERR_PERMANENT;

    rec->changed = true;
    if (!helps || ++rec->tries >= MAX_TRIES) {
        r->dropped++;
        rec->changed = false;
        settle(rec);
        return;
    }
    if (!rec->timer)
        rec->timer = loop_add_timer(kube_client_loop(r->client), retry, rec);
    loop_timer_arm(rec->timer, MAX(pace_backoff_next(&rec->backoff), (int64_t)f->retry_after_ms));
}

static void sent(void *arg, const struct kube_answer *a, const struct kube_failure *f)
{
    struct record *rec = arg;
    struct kube_recorder *r = rec->recorder;

    rec->call = NULL;
    r->under_way--;
    if (a || f->err.num == -EEXIST) {
        rec->created = true;
        rec->changed = rec->changed || !a; /* there by an earlier try: bring it up to date */
        if (rec->changed)
            enqueue(rec);
        else
            settle(rec);
    } else if (f->err.num == -ENOENT && rec->created) {
        rec->created = false;
        enqueue(rec);
    } else {
        try_later(rec, f);
    }
    pump(r);
}

static void send(struct record *rec)
{
    struct kube_recorder *r = rec->recorder;
    AUTO(arena_done) struct arena a = {0};
    struct kube_request q = {
        .verb = rec->created ? KUBE_PATCH_MERGE : KUBE_CREATE,
        .resource = events,
        .namespace = rec->namespace,
        .name = rec->created ? rec->name : NULL,
        .body = rec->created ? event_patch(&a, rec) : event_object(&a, rec),
        .fn = sent,
        .arg = rec,
    };

    rec->changed = false;
    r->under_way++;
    rec->call = kube_call_start(r->client, &q);
}

static void pump(struct kube_recorder *r)
{
    while (r->under_way < MAX_UNDER_WAY && !list_empty(&r->queue)) {
        struct record *rec = LIST_ENTRY(r->queue.next, struct record, queued);

        list_remove(&rec->queued);
        send(rec);
    }
}

static const char *keep(struct record *rec, const char *text)
{
    return text ? arena_strdup(&rec->strings, text) : NULL;
}

static struct record *record_new(struct kube_recorder *r, const struct occurrence *o,
                                 int64_t now_us)
{
    const struct kube_reference *about = o->about;
    struct record *rec = xcalloc(1, sizeof(*rec));
    AUTO(free) char *name = event_name(about->name, now_us);

    rec->recorder = r;
    rec->about = (struct kube_reference){
        .api_version = keep(rec, about->api_version),
        .kind = keep(rec, about->kind),
        .namespace = keep(rec, about->namespace),
        .name = keep(rec, about->name),
        .uid = keep(rec, about->uid),
        .version = keep(rec, about->version),
        .field_path = keep(rec, about->field_path),
    };
    rec->namespace = about->namespace && *about->namespace ? rec->about.namespace : "default";
    rec->name = keep(rec, name);
    rec->type = o->type;
    rec->reason = keep(rec, o->reason);
    rec->first_us = now_us;
    rec->backoff = (struct pace_backoff){.first_ms = 1000, .max_ms = 10000};
    return rec;
}

/* The record of the occurrence's event, counted up. */
static struct record *observe(struct kube_recorder *r, const struct occurrence *o)
{
    AUTO(free) char *key = NULL;
    char *message = NULL;
    int64_t now_us = clock_wall_us();
    struct record *rec;

    correlate_key(&r->correlator, o, clock_mono_ms(), &key, &message);
    rec = (struct record *)lru_get(&r->records, key);
    if (!rec) {
        rec = record_new(r, o, now_us);
        lru_put(&r->records, key, &rec->node);
    }
    free(rec->message);
    rec->message = message;
    rec->last_us = now_us;
    rec->count++;
    return rec;
}

/* At most MESSAGE_MAX_BYTES, cut between characters. */
static PRINTF(1, 0) char *short_message(const char *fmt, va_list ap)
{
    char *message = xvasprintf(fmt, ap);
    size_t n = strlen(message);

    if (n <= MESSAGE_MAX_BYTES)
        return message;
    n = MESSAGE_MAX_BYTES - 3;
    while (n > 0 && ((unsigned char)message[n] & 0xc0) == 0x80)
        n--;
    memcpy(message + n, "...", 4);
    return message;
}

void kube_recorder_emit(struct kube_recorder *r, const struct kube_reference *about,
                        enum kube_event_type type, const char *reason, const char *fmt, ...)
{
    AUTO(free) char *message = NULL;
    struct occurrence o = {r->component, r->host, about, type, reason, NULL};
    struct record *rec;
    va_list ap;

    va_start(ap, fmt);
    message = short_message(fmt, ap);
    va_end(ap);
    o.message = message;
    rec = observe(r, &o);
    if (!correlate_admits(&r->correlator, &o, clock_mono_ms()) ||
        (!rec->node.pinned && r->pending >= MAX_PENDING)) {
        r->dropped++;
        return;
    }
    rec->changed = true;
    if (rec->node.pinned)
        return; /* on its way already */
    rec->node.pinned = true;
    r->pending++;
    enqueue(rec);
}
