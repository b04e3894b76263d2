/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A collection of the API server, held here: objects by name and by index, with handlers. */
#pragma once

#include "src/kube/object.h"
#include "src/kube/reflector.h"

struct kube_cache;

/* What an index function tells its values to. */
struct kube_index_out;
void kube_index_emit(struct kube_index_out *out, struct str value);
/* Calls kube_index_emit for each value of the object; none is fine. */
typedef void (*kube_index_fn)(void *arg, const struct jsn *object, struct kube_index_out *out);

struct kube_index {
    const char *name;
    kube_index_fn fn;
    void *arg;
};

/* Strings and tables are borrowed during kube_cache_new. */
struct kube_cache_options {
    struct kube_reflector_options reflector; /* scope and pace; its sink is the cache's own */
    const struct kube_decoder *decoder;      /* NULL: the text is kept instead */
    bool keep_text;                          /* beside the decoder's value */
    bool by_owner;
    const struct kube_index *indexes; /* ends with a nameless one; or NULL */
    void (*trouble)(void *arg, const struct kube_failure *f, int64_t retry_ms); /* or NULL */
    void *trouble_arg;
};

/* Starts to fill at once.  The client must outlive it. */
struct kube_cache *kube_cache_new(struct kube_client *c, const struct kube_cache_options *o);
/* Handlers are not called.  Not from inside one. */
struct kube_cache *kube_cache_free(struct kube_cache *c);
DEFINE_AUTO(struct kube_cache, kube_cache_free);

/* Hold this object as if the server had it, until the loop's next turn: for questions of the form
 * "what would come after that?".  Its uid and its resourceVersion are new ones, where it differs.
 */
void kube_cache_pretend(struct kube_cache *c, struct jsn *object);

/* Has the first list been taken in whole?  Before that absence means nothing. */
bool kube_cache_synced(const struct kube_cache *c);
size_t kube_cache_count(const struct kube_cache *c);
/* What the objects, the table and the indexes cost, about. */
size_t kube_cache_bytes(const struct kube_cache *c);

/* Found objects are borrowed until the loop's next turn. */
const struct kube_object *kube_cache_get(const struct kube_cache *c, const char *namespace,
                                         const char *name);
struct kube_slice {
    const struct kube_object *const *items;
    size_t n;
};
/* By an owner's uid, by an index of that name. */
struct kube_slice kube_cache_by_owner(const struct kube_cache *c, const char *uid);
struct kube_slice kube_cache_by_index(const struct kube_cache *c, const char *name,
                                      const char *value);
/* All: `size_t at = 0; while ((o = kube_cache_next(c, &at)))`; in no order. */
const struct kube_object *kube_cache_next(const struct kube_cache *c, size_t *at);

/*
 * What handlers are told, after the cache has changed.  Any may be NULL.  A deleted object comes in
 * its final state where the server told it; `is_final` is false if its end was missed (found by
 * listing again): then it is the last state that was seen.  An object that was replaced by another
 * of the same name meanwhile is deleted, then added.
 */
struct kube_handler {
    void (*added)(void *arg, const struct kube_object *o);
    void (*updated)(void *arg, const struct kube_object *old, const struct kube_object *o);
    void (*deleted)(void *arg, const struct kube_object *o, bool is_final);
    void (*synced)(void *arg); /* once */
    void *arg;
};

/* Copied.  What is in the cache already is told as added, and synced, before this returns. */
void kube_cache_add_handler(struct kube_cache *c, const struct kube_handler *h);
