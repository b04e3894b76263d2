/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A watch: what its files share. */
#pragma once

#include "src/cluster/apiserver/answer.h"
#include "src/cluster/apiserver/pump.h"
#include "src/cluster/apiserver/select.h"
#include "src/cluster/apiserver/watch.h"

enum watch_phase {
    WATCH_PRESENT, /* shows the objects that there are at `seen` */
    WATCH_PAST,    /* reads changes after `seen` from the store's log */
    WATCH_LIVE,    /* has all that is committed, and gets each commit's changes */
};

struct watch {
    struct list link;
    struct watch_hub *hub;
    struct api_call *call;
    struct selection sel;
    struct answer_wish wish;
    enum row_object row;
    bool bookmarks;
    bool initial_bookmark; /* one is due when the present has been shown */
    bool columns_sent;
    struct loop_source *timeout;

    enum watch_phase phase;
    int64_t seen; /* everything up to this version has been sent */
    struct pump pump;
    char *after_ns; /* the last object shown of the present */
    char *after_name;
};

/* watch_send.c: events; those of objects fail the call where a stored object cannot be read. */
int watch_send_change(struct watch *w, const struct store_event *ev);
int watch_send_present(struct watch *w, const struct store_row *row);
void watch_send_bookmark(struct watch *w, int64_t version, bool initial_end);
void watch_send_error(struct watch *w, const struct jsn *status);

/* watch_feed.c: a pump_fn that reads the next piece from the store; `arg` is the watch. */
enum pump_result watch_feed(void *arg);

/* watch.c: the watch ends with an ERROR event of the call's failure. */
void watch_fail(struct watch *w);
