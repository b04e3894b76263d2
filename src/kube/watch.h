/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One watch: a stream of changes of a collection, from a version on until it ends. */
#pragma once

#include "src/kube/client.h"

struct kube_watch;

/* Which objects; strings are borrowed during the call that takes it. */
struct kube_scope {
    struct kube_resource resource;
    const char *namespace;      /* NULL: all */
    const char *label_selector; /* NULL: all */
    const char *field_selector; /* NULL: all */
};

enum kube_change { KUBE_ADDED, KUBE_MODIFIED, KUBE_DELETED, KUBE_BOOKMARK };

/* A change.  The object and its arena go after the callback; it may be changed meanwhile.  May
 * close the watch. */
typedef void (*kube_change_fn)(void *arg, enum kube_change change, struct jsn *object,
                               struct arena *arena);

/*
 * The end, called exactly once unless the watch is closed; the handle is gone.  NULL: the server
 * ended it in order.  -EIDRM: the version is too old, or the server says so within the stream.
 * -ETIMEDOUT: the stream was silent for too long.  -EBADMSG: what came is no stream of changes.
 */
typedef void (*kube_watch_end_fn)(void *arg, const struct kube_failure *f);

struct kube_watch_options {
    struct kube_scope scope;
    const char *version; /* changes after it */
    int timeout_s;       /* the server is asked to end it then; 0: 5 to 10 minutes, at random */
    int64_t silence_ms;  /* without a byte, not even a bookmark: it is dead; 0: 3.5 minutes */
    kube_change_fn on_change;
    kube_watch_end_fn on_end;
    void *arg;
};

/* Nothing is called back inside. */
struct kube_watch *kube_watch_open(struct kube_client *c, const struct kube_watch_options *o);
/* Nothing is called back any more.  May be called in on_change, not in on_end.  NULL-safe. */
struct kube_watch *kube_watch_close(struct kube_watch *w);
