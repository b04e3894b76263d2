/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * List and watch.
 *
 *                     410, 404 or nonsense in the watch
 *            +--------------------------------------------------+
 *            v                                                  |
 *   LISTING (pages) --all pages--> WATCHING --ended, broken--> WAITING
 *            ^  |                      ^                        |
 *            |  +--failed--> WAITING   +------resume from-------+
 *            +-----------------+        the last version seen
 *
 * The list is of the newest state, in pages, of one snapshot.  If the snapshot expires between two
 * pages (410) the collection is listed once more in one piece, which cannot expire.  The watch goes
 * on from the list's version; every change and every bookmark moves the version on, and a watch
 * that ends or breaks is resumed from there.  If that version is gone (410, as HTTP status or
 * within the stream), or the resource itself (404), or versions run backwards (a store that was
 * restored from a backup), the list starts over.
 *
 * Failures wait with back-off and jitter.  A watch that brought anything, or lasted, resets it; one
 * that the server ends at once, without a word, counts as a failure.
 */
#include "src/kube/reflector.h"

#include "src/base/alloc.h"
#include "src/kube/pace.h"

#define PAGE_LIMIT 500
#define BACKOFF_FIRST_MS 100
#define BACKOFF_MAX_MS 30000
#define RETRY_AFTER_MAX_MS 60000
#define SHORT_WATCH_MS 1000
#define LONG_WATCH_MS 60000
#define LIST_DEADLINE_MS 60000
/* What is missing may be about to be made: that often it is asked for soon. */
#define ABSENCES_SOON 8

enum phase { LISTING, WATCHING, WAITING };

struct kube_reflector {
    struct kube_client *client;
    struct kube_sink sink;
    char *group;
    char *api_version;
    char *plural;
    char *namespace;
    char *label_selector;
    char *field_selector;
    unsigned int page_limit;
    int watch_timeout_s;
    int64_t watch_silence_ms;
    enum phase phase;
    char *version;
    bool relist;     /* what to do after WAITING */
    bool whole;      /* the list is made in one piece */
    char *next_page; /* continue token */
    struct kube_call *call;
    struct kube_watch *watch;
    int64_t watch_since_ms;
    bool watch_brought; /* anything */
    int64_t absent_ms;  /* between questions for what the server does not know */
    unsigned absences;  /* in a row */
    struct pace_backoff backoff;
    struct loop_source *timer;
    bool dead;
};

static void list_page(struct kube_reflector *r);

static struct kube_scope scope_of(const struct kube_reflector *r)
{
    return (struct kube_scope){
        .resource = {r->group, r->api_version, r->plural},
        .namespace = r->namespace,
        .label_selector = r->label_selector,
        .field_selector = r->field_selector,
    };
}

static void set_version(struct kube_reflector *r, const char *version)
{
    char *fresh = xstrdup(version);

    free(r->version);
    r->version = fresh;
}

/* Try again after a while: the list, or the watch from where it was. */
static void wait_and_retry(struct kube_reflector *r, const struct kube_failure *f, bool relist)
{
    int64_t asked_ms = MIN(f->retry_after_ms, RETRY_AFTER_MAX_MS);
    int64_t delay_ms = MAX(pace_backoff_next(&r->backoff), asked_ms);

    r->absences = f->code == 404 ? r->absences + 1 : 0;
    if (r->absent_ms && r->absences > ABSENCES_SOON)
        delay_ms = MAX(delay_ms, r->absent_ms + pace_random(0, r->absent_ms / 4));
    r->phase = WAITING;
    r->relist = r->relist || relist;
    loop_timer_arm(r->timer, delay_ms);
    if (r->sink.trouble)
        r->sink.trouble(r->sink.arg, f, delay_ms);
}

static void nonsense(struct kube_reflector *r, const char *what)
{
    struct kube_failure f = {0};

    (void)err_set(&f.err, -EBADMSG, ERR_RETRY, "%s: %s", r->plural, what);
    r->watch = kube_watch_close(r->watch);
    wait_and_retry(r, &f, true);
}

/* Versions are numbers that rise, as far as they are numbers. */
static bool runs_backwards(const char *from, const char *to)
{
    uint64_t a;
    uint64_t b;

    return str_to_u64(str_of(from), &a) == 0 && str_to_u64(str_of(to), &b) == 0 && b < a;
}

static void changed(void *arg, enum kube_change change, struct jsn *object, struct arena *arena)
{
    struct kube_reflector *r = arg;
    const char *version = jsn_get_str(object, "metadata.resourceVersion");

    if (!version || !*version ||
        (change != KUBE_BOOKMARK && !jsn_get_str(object, "metadata.name"))) {
        nonsense(r, "an object without a name or version came in a watch");
        return;
    }
    if (runs_backwards(r->version, version)) {
        nonsense(r, "versions run backwards: the server's store is another one");
        return;
    }
    if (!r->watch_brought)
        pace_backoff_reset(&r->backoff);
    r->watch_brought = true;
    set_version(r, version);
    if (change == KUBE_DELETED)
        r->sink.drop(r->sink.arg, object, arena);
    else if (change != KUBE_BOOKMARK)
        r->sink.put(r->sink.arg, object, arena);
}

static void open_watch(struct kube_reflector *r);

static void watch_ended(void *arg, const struct kube_failure *f)
{
    struct kube_reflector *r = arg;
    int64_t lived_ms = loop_now_ms(kube_client_loop(r->client)) - r->watch_since_ms;
    struct kube_failure hasty = {0};

    r->watch = NULL;
    if (lived_ms >= LONG_WATCH_MS)
        pace_backoff_reset(&r->backoff);
    if (f) {
        wait_and_retry(r, f, f->err.num == -EIDRM || f->err.num == -ENOENT);
    } else if (!r->watch_brought && lived_ms < SHORT_WATCH_MS) {
        (void)err_set(&hasty.err, -ECONNRESET, ERR_RETRY, "watch %s: the server ended it at once",
                      r->plural);
        wait_and_retry(r, &hasty, false);
    } else {
        open_watch(r);
    }
}

static void open_watch(struct kube_reflector *r)
{
    struct kube_watch_options o = {
        .scope = scope_of(r),
        .version = r->version,
        .timeout_s = r->watch_timeout_s,
        .silence_ms = r->watch_silence_ms,
        .on_change = changed,
        .on_end = watch_ended,
        .arg = r,
    };

    r->phase = WATCHING;
    r->watch_brought = false;
    r->watch_since_ms = loop_now_ms(kube_client_loop(r->client));
    r->watch = kube_watch_open(r->client, &o);
}

static void list_failed(struct kube_reflector *r, const struct kube_failure *f)
{
    bool expired = f->err.num == -EIDRM && r->next_page;

    free(TAKE(r->next_page));
    if (!expired) {
        r->whole = false;
        wait_and_retry(r, f, true);
        return;
    }
    r->whole = true;
    r->sink.begin(r->sink.arg);
    if (!r->dead)
        list_page(r);
}

/* Items of built-in kinds come without the kind that the list says for all. */
static void complete_item(const struct jsn *list, struct jsn *item, struct arena *arena)
{
    struct str kind = str_of(jsn_get_str(list, "kind"));
    const char *version = jsn_get_str(list, "apiVersion");

    if (jsn_get_str(item, "kind") || !str_ends(kind, "List") || !version)
        return;
    kind.n -= strlen("List");
    jsn_set(arena, item, "kind", jsn_str(arena, kind));
    jsn_set_str(arena, item, "apiVersion", version);
}

static bool take_items(struct kube_reflector *r, const struct kube_answer *a)
{
    JSN_FOR_ITEMS (item, jsn_key(a->value, "items")) {
        if (!jsn_get_str(item, "metadata.name"))
            return false;
        complete_item(a->value, item, a->arena);
        r->sink.put(r->sink.arg, item, a->arena);
        if (r->dead)
            return true;
    }
    return true;
}

static void page_came(void *arg, const struct kube_answer *a, const struct kube_failure *f)
{
    struct kube_reflector *r = arg;
    const char *version;
    const char *more;

    r->call = NULL;
    if (f) {
        list_failed(r, f);
        return;
    }
    version = jsn_get_str(a->value, "metadata.resourceVersion");
    more = jsn_get_str(a->value, "metadata.continue");
    free(TAKE(r->next_page));
    if (!version || !*version || !take_items(r, a)) {
        nonsense(r, "the answer to a list is no list");
        return;
    }
    if (r->dead)
        return;
    if (more && *more) {
        r->next_page = xstrdup(more);
        list_page(r);
        return;
    }
    set_version(r, version);
    r->whole = false;
    r->absences = 0;
    r->sink.end(r->sink.arg);
    if (!r->dead)
        open_watch(r);
}

static void list_page(struct kube_reflector *r)
{
    AUTO(free) char *limit = xasprintf("%u", r->page_limit);
    struct kube_scope s = scope_of(r);
    const char *query[16];
    size_t n = 0;

    if (!r->whole) {
        query[n++] = "limit";
        query[n++] = limit;
    }
    if (r->next_page) {
        query[n++] = "continue";
        query[n++] = r->next_page;
    }
    if (s.field_selector) {
        query[n++] = "fieldSelector";
        query[n++] = s.field_selector;
    }
    if (s.label_selector) {
        query[n++] = "labelSelector";
        query[n++] = s.label_selector;
    }
    query[n] = NULL;
    r->phase = LISTING;
    r->call = kube_call_start(r->client, &(struct kube_request){.verb = KUBE_LIST,
                                                                .resource = s.resource,
                                                                .namespace = s.namespace,
                                                                .query = query,
                                                                .deadline_ms = LIST_DEADLINE_MS,
                                                                .fn = page_came,
                                                                .arg = r});
}

static void go(void *arg)
{
    struct kube_reflector *r = arg;

    if (!r->relist) {
        open_watch(r);
        return;
    }
    r->relist = false;
    r->sink.begin(r->sink.arg);
    if (!r->dead)
        list_page(r);
}

struct kube_reflector *kube_reflector_new(struct kube_client *c,
                                          const struct kube_reflector_options *o)
{
    const struct kube_scope *s = &o->scope;
    struct kube_reflector *r = xcalloc(1, sizeof(*r));

    *r = (struct kube_reflector){
        .client = c,
        .sink = o->sink,
        .group = xstrdup(s->resource.group ? s->resource.group : ""),
        .api_version = xstrdup(s->resource.version),
        .plural = xstrdup(s->resource.plural),
        .namespace = xstrdup_null(s->namespace),
        .label_selector = xstrdup_null(s->label_selector),
        .field_selector = xstrdup_null(s->field_selector),
        .page_limit = o->page_limit ? o->page_limit : PAGE_LIMIT,
        .watch_timeout_s = o->watch_timeout_s,
        .watch_silence_ms = o->watch_silence_ms,
        .absent_ms = o->absent_ms,
        .backoff = {.first_ms = o->backoff_first_ms ? o->backoff_first_ms : BACKOFF_FIRST_MS,
                    .max_ms = o->backoff_max_ms ? o->backoff_max_ms : BACKOFF_MAX_MS},
        .version = xstrdup(""),
        .phase = WAITING,
        .relist = true,
    };
    r->timer = loop_add_timer(kube_client_loop(c), go, r);
    loop_timer_arm(r->timer, 0);
    return r;
}

static void bury(void *arg)
{
    struct kube_reflector *r = arg;

    free(r->group);
    free(r->api_version);
    free(r->plural);
    free(r->namespace);
    free(r->label_selector);
    free(r->field_selector);
    free(r->next_page);
    free(r->version);
    free(r);
}

struct kube_reflector *kube_reflector_free(struct kube_reflector *r)
{
    if (!r || r->dead)
        return NULL;
    r->dead = true;
    if (r->call)
        kube_call_cancel(TAKE(r->call));
    r->watch = kube_watch_close(r->watch);
    r->timer = loop_source_free(r->timer);
    loop_defer_free(kube_client_loop(r->client), bury, r);
    return NULL;
}

const char *kube_reflector_version(const struct kube_reflector *r)
{
    return r->version;
}

const char *kube_reflector_state(const struct kube_reflector *r)
{
    static const char *const texts[] = {
        [LISTING] = "listing", [WATCHING] = "watching", [WAITING] = "waiting"};

    return texts[r->phase];
}
