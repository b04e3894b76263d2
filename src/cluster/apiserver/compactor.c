/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compaction.
 *
 * Watches and paged lists may go back for a few minutes (five, as etcd behind a kube-apiserver).
 * Every tenth of that time the newest version is noted; when a note is old enough everything before
 * it is forgotten.  Times are monotonic and live in memory: after a restart the clock starts again,
 * and old versions live a little longer.
 */
#include "src/cluster/apiserver/compactor.h"

#include "src/base/alloc.h"
#include "src/base/clock.h"
#include "src/base/log.h"

#define HISTORY_MS 300000
#define NOTES 10

struct note {
    int64_t when_ms;
    int64_t version;
};

struct compactor {
    struct apiserver *server;
    struct loop_source *timer;
    int64_t history_ms;
    struct note notes[NOTES + 1]; /* oldest first */
    size_t n;
};

static void take_note(struct compactor *k, int64_t now)
{
    if (k->n == ARRAY_LEN(k->notes))
        memmove(k->notes, k->notes + 1, --k->n * sizeof(k->notes[0]));
    k->notes[k->n++] = (struct note){now, store_version(k->server->store)};
}

static void on_timer(void *arg)
{
    struct compactor *k = arg;
    int64_t now = clock_mono_ms();
    struct err e = {0};

    while (k->n > 0 && now - k->notes[0].when_ms >= k->history_ms) {
        if (store_compact(k->server->store, k->notes[0].version, &e) < 0) {
            log_warn("old versions could not be removed, trying again: %s", e.text);
            break;
        }
        memmove(k->notes, k->notes + 1, --k->n * sizeof(k->notes[0]));
    }
    take_note(k, now);
    loop_timer_arm(k->timer, k->history_ms / NOTES);
}

struct compactor *compactor_new(struct apiserver *s)
{
    struct compactor *k = xcalloc(1, sizeof(*k));

    k->server = s;
    k->history_ms = s->history_ms ? s->history_ms : HISTORY_MS;
    k->timer = loop_add_timer(s->loop, on_timer, k);
    take_note(k, clock_mono_ms());
    loop_timer_arm(k->timer, k->history_ms / NOTES);
    return k;
}

struct compactor *compactor_free(struct compactor *k)
{
    if (!k)
        return NULL;
    (void)loop_source_free(k->timer);
    free(k);
    return NULL;
}
