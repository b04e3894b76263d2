/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A set of keys to work off.
 *
 * The controllers inside the API server (garbage collection, the end of namespaces) react to
 * changes by remembering what to look at, and look in a later turn: their own writes are then
 * ordinary writes with their own commit, and a burst of changes to one object is one look.
 */
#include "src/cluster/apiserver/workset.h"

#include "src/base/alloc.h"
#include "src/base/clock.h"

struct work_item {
    struct list link;
    int64_t due_ms; /* 0: at once */
    char key[];
};

static void run(void *arg);

void workset_init(struct workset *w, struct loop *l, size_t batch, workset_fn fn, void *arg)
{
    *w = (struct workset){.fn = fn, .arg = arg, .batch = batch};
    list_init(&w->queue);
    w->timer = loop_add_timer(l, run, w);
}

void workset_done(struct workset *w)
{
    if (!w->timer)
        return;
    LIST_FOR_EACH (item, &w->queue, struct work_item, link) {
        list_remove(&item->link);
        free(item);
    }
    map_done(&w->waiting);
    w->timer = loop_source_free(w->timer);
}

/* At a time of the monotonic clock; one that has passed is the next turn. */
static void arm(struct workset *w, int64_t due_ms)
{
    w->armed_ms = due_ms;
    loop_timer_arm(w->timer, MAX(due_ms - clock_mono_ms(), 0));
}

static void add(struct workset *w, const char *key, int64_t delay_ms)
{
    struct work_item *item = map_get(&w->waiting, str_of(key));
    size_t n = strlen(key) + 1;
    int64_t due = delay_ms ? clock_mono_ms() + delay_ms : 0;

    if (item) {
        item->due_ms = MIN(item->due_ms, due);
    } else {
        item = xcalloc(1, sizeof(*item) + n);
        memcpy(item->key, key, n);
        item->due_ms = due;
        list_append(&w->queue, &item->link);
        (void)map_put(&w->waiting, str_of(key), item);
    }
    if (!loop_timer_armed(w->timer) || due < w->armed_ms)
        arm(w, due);
}

void workset_add(struct workset *w, const char *key)
{
    add(w, key, 0);
}

void workset_add_later(struct workset *w, const char *key, int64_t delay_ms)
{
    add(w, key, delay_ms);
}

static void rearm(struct workset *w)
{
    int64_t next = INT64_MAX;

    LIST_FOR_EACH (item, &w->queue, struct work_item, link)
        next = MIN(next, item->due_ms);
    if (next != INT64_MAX)
        arm(w, next);
}

static void run(void *arg)
{
    struct workset *w = arg;
    int64_t now = clock_mono_ms();
    size_t left = w->batch;
    struct list due;

    list_init(&due);
    LIST_FOR_EACH (item, &w->queue, struct work_item, link) {
        if (left == 0)
            break;
        if (item->due_ms > now)
            continue;
        left--;
        list_remove(&item->link);
        (void)map_take(&w->waiting, str_of(item->key));
        list_append(&due, &item->link);
    }
    LIST_FOR_EACH (item, &due, struct work_item, link) {
        list_remove(&item->link);
        w->fn(w->arg, item->key);
        free(item);
    }
    rearm(w);
}
