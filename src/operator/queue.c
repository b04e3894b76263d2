/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The work queue.
 *
 * A key is idle (not here), due, delayed or running; a running one that is added again is marked,
 * and due as soon as its work ends: no two workers on one key, no event lost.  Failures are counted
 * per key and forgotten on success.  Time is an argument.
 */
#include "src/operator/queue.h"

#include "src/base/alloc.h"
#include "src/base/list.h"
#include "src/base/map.h"
#include "src/kube/pace.h"

/* What slurmctld is configured by is waited for by people; the rest follows. */
#define URGENT "Controller/"

struct item {
    struct list link; /* in q->due */
    char *key;
    int64_t at_ms; /* delayed until then; 0: it is not */
    bool urgent;
    bool running;
    bool again;
    struct pace_backoff backoff;
};

struct queue {
    struct map items;
    struct list due;
    struct list urgent; /* before `due` */
    size_t n_due;
    size_t n_delayed;
    size_t n_running;
    struct pace_backoff backoff;
};

static void item_free(void *value)
{
    struct item *it = value;

    free(it->key);
    free(it);
}

struct queue *queue_new(int64_t backoff_first_ms, int64_t backoff_max_ms)
{
    struct queue *q = xcalloc(1, sizeof(*q));

    map_init(&q->items, item_free);
    list_init(&q->due);
    list_init(&q->urgent);
    q->backoff = (struct pace_backoff){backoff_first_ms, backoff_max_ms, 0};
    return q;
}

struct queue *queue_free(struct queue *q)
{
    if (!q)
        return NULL;
    map_done(&q->items);
    free(q);
    return NULL;
}

static struct item *item_get(struct queue *q, const char *key)
{
    struct item *it = map_get(&q->items, str_of(key));

    if (it)
        return it;
    it = xcalloc(1, sizeof(*it));
    it->key = xstrdup(key);
    it->urgent = starts_with(key, URGENT);
    it->backoff = q->backoff;
    (void)map_put(&q->items, str_of(key), it);
    return it;
}

static void set_delay(struct queue *q, struct item *it, int64_t at_ms)
{
    q->n_delayed += (at_ms != 0);
    q->n_delayed -= (it->at_ms != 0);
    it->at_ms = at_ms;
}

static void make_due(struct queue *q, struct item *it)
{
    set_delay(q, it, 0);
    if (list_linked(&it->link))
        return;
    list_append(it->urgent ? &q->urgent : &q->due, &it->link);
    q->n_due++;
}

void queue_add(struct queue *q, const char *key)
{
    struct item *it = item_get(q, key);

    if (it->running)
        it->again = true;
    else
        make_due(q, it);
}

void queue_add_at(struct queue *q, const char *key, int64_t at_ms)
{
    struct item *it = item_get(q, key);

    if (list_linked(&it->link) || it->again)
        return;
    if (it->at_ms == 0 || at_ms < it->at_ms)
        set_delay(q, it, MAX(at_ms, 1));
}

/* What has waited long enough becomes due. */
static void ripen(struct queue *q, int64_t now_ms)
{
    size_t at = 0;
    struct item *it;

    if (q->n_delayed == 0)
        return;
    while (map_next(&q->items, &at, NULL, &it))
        if (it->at_ms != 0 && it->at_ms <= now_ms && !it->running)
            make_due(q, it);
}

const char *queue_take(struct queue *q, int64_t now_ms)
{
    struct item *it;

    ripen(q, now_ms);
    if (q->n_due == 0)
        return NULL;
    it = LIST_ENTRY((list_empty(&q->urgent) ? &q->due : &q->urgent)->next, struct item, link);
    list_remove(&it->link);
    q->n_due--;
    it->running = true;
    q->n_running++;
    return it->key;
}

int64_t queue_done(struct queue *q, const char *key, bool failed, int64_t now_ms)
{
    struct item *it = map_get(&q->items, str_of(key));
    bool again = it->again;
    int64_t delay = 0;

    it->running = it->again = false;
    q->n_running--;
    if (failed)
        delay = pace_backoff_next(&it->backoff);
    else
        pace_backoff_reset(&it->backoff);
    if (again)
        make_due(q, it);
    else if (failed)
        queue_add_at(q, key, now_ms + delay);
    else if (it->at_ms == 0)
        (void)map_del(&q->items, str_of(key));
    return again ? 0 : delay;
}

bool queue_has_urgent(const struct queue *q)
{
    return !list_empty(&q->urgent);
}

int64_t queue_wait_ms(const struct queue *q, int64_t now_ms)
{
    int64_t soonest = -1;
    size_t at = 0;
    struct item *it;

    if (q->n_due > 0)
        return 0;
    if (q->n_delayed == 0)
        return -1;
    while (map_next(&q->items, &at, NULL, &it))
        if (it->at_ms != 0 && !it->running && (soonest < 0 || it->at_ms < soonest))
            soonest = it->at_ms;
    return soonest < 0 ? -1 : MAX(soonest - now_ms, 0);
}

size_t queue_waiting(const struct queue *q)
{
    return q->n_due + q->n_delayed;
}

size_t queue_running(const struct queue *q)
{
    return q->n_running;
}

unsigned queue_failures(const struct queue *q, const char *key)
{
    const struct item *it = map_get(&q->items, str_of(key));

    return it ? it->backoff.failures : 0;
}
