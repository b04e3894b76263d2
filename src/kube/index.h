/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Indexes of a cache: from a value to the objects that have it. */
#pragma once

#include "src/base/map.h"
#include "src/kube/cache.h"
#include "src/kube/object_private.h"

/* The objects of one value. */
struct bucket {
    struct index *index;
    char *value;
    struct kept_object **items;
    size_t n;
    size_t cap;
};

struct index {
    char *name;
    kube_index_fn fn;
    void *arg;
    struct map buckets; /* value -> struct bucket, owned */
};

struct index_set {
    struct index *indexes;
    size_t n;
};

/* As the cache's options say.  {0} is a valid empty set. */
void index_set_init(struct index_set *s, const struct kube_cache_options *o);
/* No object may be in it any more. */
void index_set_done(struct index_set *s);

/* Enter an object under all its values; take it out of all of them. */
void index_set_add(struct index_set *s, struct kept_object *k, const struct jsn *object);
void index_set_remove(struct kept_object *k);

/* The objects of a value in the index of that name; an index that does not exist aborts. */
struct kube_slice index_set_find(const struct index_set *s, const char *name, struct str value);
/* What the set costs, about. */
size_t index_set_bytes(const struct index_set *s);
