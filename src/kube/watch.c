/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One watch.
 *
 * The server sends a JSON object a line: {"type": "ADDED", "object": {...}}.  Lines are cut from
 * the pieces that arrive, parsed one by one and handed on.  Bookmarks are always asked for: they
 * tell a version to resume from on quiet collections, and they are the sign of life by which a dead
 * stream is told from a quiet one (servers send one about every minute).
 *
 * The first thing that is wrong ends the watch: a line that is not JSON, a type that does not
 * exist, an ERROR, a line that was cut off, a line beyond MAX_LINE_BYTES, silence.
 */
#include "src/kube/watch.h"

#include "src/base/alloc.h"
#include "src/kube/pace.h"

#define MAX_LINE_BYTES ((size_t)32 << 20)
#define SILENCE_MS 210000
#define TIMEOUT_LEAST_S 300
#define TIMEOUT_MOST_S 600

struct kube_watch {
    struct kube_client *client;
    struct kube_call *call;
    struct buf line; /* what has come of it */
    size_t searched; /* no line break before this */
    struct loop_source *silence;
    int64_t silence_ms;
    bool dead;
    char *what;
    kube_change_fn on_change;
    kube_watch_end_fn on_end;
    void *arg;
};

static void bury(void *arg)
{
    struct kube_watch *w = arg;

    buf_done(&w->line);
    free(w->what);
    free(w);
}

/* The memory lasts until the end of the turn: a callback may be on the stack. */
struct kube_watch *kube_watch_close(struct kube_watch *w)
{
    if (!w || w->dead)
        return NULL;
    w->dead = true;
    if (w->call)
        kube_call_cancel(TAKE(w->call));
    w->silence = loop_source_free(w->silence);
    loop_defer_free(kube_client_loop(w->client), bury, w);
    return NULL;
}

static void end(struct kube_watch *w, const struct kube_failure *f)
{
    kube_watch_end_fn fn = w->on_end;
    void *arg = w->arg;

    (void)kube_watch_close(w);
    fn(arg, f);
}

static void end_badly(struct kube_watch *w, int num, const char *why, const char *detail)
{
    struct kube_failure f = {0};

    (void)err_set(&f.err, num, ERR_RETRY, "%s: %s%s%s", w->what, why, *detail ? ": " : "", detail);
    end(w, &f);
}

static int change_of(const char *type)
{
    static const char *const types[] = {
        [KUBE_ADDED] = "ADDED",
        [KUBE_MODIFIED] = "MODIFIED",
        [KUBE_DELETED] = "DELETED",
        [KUBE_BOOKMARK] = "BOOKMARK",
    };

    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        if (streq(type, types[i]))
            return (int)i;
    }
    return -1;
}

static void take_line(struct kube_watch *w, struct str line)
{
    AUTO(arena_done) struct arena a = {0};
    struct jsn *event = NULL;
    struct jsn *object;
    struct err e = {0};
    const char *type;
    int change;

    if (str_trim(line).n == 0)
        return;
    if (jsn_parse(&a, line, NULL, &event, &e) < 0) {
        end_badly(w, -EBADMSG, "an event is not JSON", e.text);
        return;
    }
    type = jsn_get_str(event, "type");
    object = jsn_key(event, "object");
    if (streq(type, "ERROR")) {
        struct kube_failure f;

        kube_failure_from_status(&f, w->what, object);
        end(w, &f);
        return;
    }
    change = change_of(type);
    if (change < 0 || !jsn_is(object, JSN_OBJECT)) {
        end_badly(w, -EBADMSG, "an event is of no known type", "");
        return;
    }
    w->on_change(w->arg, (enum kube_change)change, object, &a);
}

static void chunk(void *arg, struct str data)
{
    struct kube_watch *w = arg;
    size_t taken = 0;

    loop_timer_arm(w->silence, w->silence_ms);
    buf_addstr(&w->line, data);
    if (w->line.overflow) {
        end_badly(w, -EMSGSIZE, "an event is too large", "");
        return;
    }
    while (!w->dead) {
        const char *from = w->line.p + w->searched;
        const char *at = memchr(from, '\n', w->line.n - w->searched);
        size_t stop;

        if (!at)
            break;
        stop = (size_t)(at - w->line.p);
        take_line(w, (struct str){w->line.p + taken, stop - taken});
        taken = w->searched = stop + 1;
    }
    buf_eat(&w->line, taken);
    w->searched = w->line.n;
}

static void ended(void *arg, const struct kube_answer *a, const struct kube_failure *f)
{
    struct kube_watch *w = arg;

    (void)a;
    w->call = NULL;
    if (!f && w->line.n > 0)
        end_badly(w, -EBADMSG, "the last event was cut off", "");
    else
        end(w, f);
}

static void silent(void *arg)
{
    struct kube_watch *w = arg;

    end_badly(w, -ETIMEDOUT, "the stream went silent", "");
}

static const char **query(const struct kube_watch_options *o, const char *timeout,
                          const char *room[16])
{
    size_t n = 0;

    room[n++] = "allowWatchBookmarks";
    room[n++] = "true";
    if (o->scope.field_selector) {
        room[n++] = "fieldSelector";
        room[n++] = o->scope.field_selector;
    }
    if (o->scope.label_selector) {
        room[n++] = "labelSelector";
        room[n++] = o->scope.label_selector;
    }
    room[n++] = "resourceVersion";
    room[n++] = o->version;
    room[n++] = "timeoutSeconds";
    room[n++] = timeout;
    room[n++] = "watch";
    room[n++] = "true";
    room[n] = NULL;
    return room;
}

struct kube_watch *kube_watch_open(struct kube_client *c, const struct kube_watch_options *o)
{
    int64_t seconds = o->timeout_s ? o->timeout_s : pace_random(TIMEOUT_LEAST_S, TIMEOUT_MOST_S);
    AUTO(free) char *timeout = xasprintf("%d", (int)seconds);
    struct kube_watch *w = xcalloc(1, sizeof(*w));
    const char *room[16];
    struct kube_request r = {
        .verb = KUBE_LIST,
        .resource = o->scope.resource,
        .namespace = o->scope.namespace,
        .query = query(o, timeout, room),
        .deadline_ms = -1,
        .once = true,
        .on_chunk = chunk,
        .fn = ended,
        .arg = w,
    };

    w->client = c;
    w->on_change = o->on_change;
    w->on_end = o->on_end;
    w->arg = o->arg;
    w->what = xasprintf("watch %s", o->scope.resource.plural);
    w->silence_ms = o->silence_ms ? o->silence_ms : SILENCE_MS;
    w->silence = loop_add_timer(kube_client_loop(c), silent, w);
    loop_timer_arm(w->silence, w->silence_ms);
    buf_init(&w->line, MAX_LINE_BYTES);
    w->call = kube_call_start(c, &r);
    return w;
}
