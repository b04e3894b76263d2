/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Correlation of events.
 *
 * Three steps, as client-go takes them, so that users see here what they know from elsewhere:
 * different messages of one reason about one object become one event when they are many; equal
 * occurrences are one event with a count (the recorder holds those); and an object that is the
 * subject of very many events has them dropped.
 *
 * All that is remembered is bounded (lru.c).
 */
#include "src/kube/correlate.h"

#include "src/base/alloc.h"
#include "src/base/hash.h"
#include "src/kube/pace.h"

/* The messages of one reason: their hashes, as only their number counts. */
struct similar {
    struct lru_node node;
    uint64_t messages[CORRELATE_SIMILAR_MAX];
    size_t n;
    int64_t last_ms;
};

struct spam {
    struct lru_node node;
    struct pace_bucket bucket;
};

static void node_free(struct lru_node *n)
{
    free(n);
}

void correlator_init(struct correlator *c)
{
    lru_init(&c->similar, CORRELATE_MAX_REMEMBERED, node_free);
    lru_init(&c->spam, CORRELATE_MAX_REMEMBERED, node_free);
}

void correlator_done(struct correlator *c)
{
    lru_done(&c->similar);
    lru_done(&c->spam);
}

static const char *text(const char *s)
{
    return s ? s : "";
}

/* Parts are joined by a byte that stands in none of them. */
static char *object_key(const struct occurrence *o)
{
    const struct kube_reference *a = o->about;

    return xasprintf("%s\n%s\n%s\n%s\n%s\n%s\n%s", text(o->component), text(o->host), text(a->kind),
                     text(a->namespace), text(a->name), text(a->uid), text(a->api_version));
}

static struct similar *similar_of(struct correlator *c, const char *key, int64_t now_ms)
{
    struct similar *s = (struct similar *)lru_get(&c->similar, key);

    if (!s) {
        s = xcalloc(1, sizeof(*s));
        lru_put(&c->similar, key, &s->node);
    } else if (now_ms - s->last_ms > CORRELATE_SIMILAR_MS) {
        s->n = 0;
    }
    s->last_ms = now_ms;
    return s;
}

/* Remember the message; true if there are too many of them. */
static bool crowded(struct similar *s, const char *message)
{
    uint64_t hash = hash_str(str_of(message));

    for (size_t i = 0; i < s->n; i++) {
        if (s->messages[i] == hash)
            return false;
    }
    if (s->n + 1 >= CORRELATE_SIMILAR_MAX)
        return true;
    s->messages[s->n++] = hash;
    return false;
}

void correlate_key(struct correlator *c, const struct occurrence *o, int64_t now_ms, char **ret_key,
                   char **ret_message)
{
    AUTO(free) char *object = object_key(o);
    AUTO(free) char *group = xasprintf("%s\n%d\n%s", object, (int)o->type, o->reason);

    if (crowded(similar_of(c, group, now_ms), o->message)) {
        *ret_message = xasprintf("(combined from similar events): %s", o->message);
        *ret_key = TAKE(group);
        return;
    }
    *ret_message = xstrdup(o->message);
    *ret_key = xasprintf("%s\n%s\n%s", group, text(o->about->field_path), o->message);
}

bool correlate_admits(struct correlator *c, const struct occurrence *o, int64_t now_ms)
{
    AUTO(free) char *object = object_key(o);
    AUTO(free) char *key = xasprintf("%s\n%d", object, (int)o->type);
    struct spam *s = (struct spam *)lru_get(&c->spam, key);

    if (!s) {
        s = xcalloc(1, sizeof(*s));
        pace_bucket_init(&s->bucket, CORRELATE_SPAM_PER_SECOND, CORRELATE_SPAM_BURST, now_ms);
        lru_put(&c->spam, key, &s->node);
    }
    return pace_bucket_take(&s->bucket, now_ms) == 0;
}
