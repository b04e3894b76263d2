/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A collection as it is and as it changes: list in pages, then watch, for ever. */
#pragma once

#include "src/kube/watch.h"

struct kube_reflector;

/*
 * Who is told.  A list is begin, put for each object, end: what was not put in between is gone.
 * After it put and drop follow the changes.  A begin may come again without an end: that list
 * starts again.  Objects go after the callback and may be changed meanwhile.
 */
struct kube_sink {
    void (*begin)(void *arg);
    void (*put)(void *arg, struct jsn *object, struct arena *arena);
    void (*drop)(void *arg, struct jsn *object, struct arena *arena); /* its final state */
    void (*end)(void *arg);
    /* Something went wrong and is tried again after that time; may be NULL. */
    void (*trouble)(void *arg, const struct kube_failure *f, int64_t retry_ms);
    void *arg;
};

struct kube_reflector_options {
    struct kube_scope scope;
    struct kube_sink sink;
    unsigned int page_limit;  /* objects a page: 500 */
    int64_t backoff_first_ms; /* 100 */
    int64_t backoff_max_ms;   /* 30000 */
    int64_t
        absent_ms; /* the same for what the server has said several times not to know; 0: as that */
    int watch_timeout_s; /* as in kube_watch_options */
    int64_t watch_silence_ms;
};

/* Starts at once; nothing is called back inside.  The client must outlive it. */
struct kube_reflector *kube_reflector_new(struct kube_client *c,
                                          const struct kube_reflector_options *o);
/* May be called in a callback of the sink. */
struct kube_reflector *kube_reflector_free(struct kube_reflector *r);
DEFINE_AUTO(struct kube_reflector, kube_reflector_free);

/* The version that the sink has seen; "" before the first list. */
const char *kube_reflector_version(const struct kube_reflector *r);
/* What is going on, for people and tests: "listing", "watching", "waiting". */
const char *kube_reflector_state(const struct kube_reflector *r);
