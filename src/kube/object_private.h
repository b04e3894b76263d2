/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What object.c, index.c and cache.c share; nobody else includes it. */
#pragma once

#include "src/kube/object.h"

struct bucket; /* index.h */

/* An object's place in an index. */
struct place {
    struct bucket *bucket;
    size_t at;
};

struct kept_object {
    struct kube_object o; /* first: one is the other */
    unsigned int round;   /* of listing, in which it was last seen */
    void (*release)(void *value);
    struct place *places; /* while it is in a cache */
    size_t n_places;
    size_t bytes; /* of the allocation itself */
};

/* The object needs a name. */
struct kept_object *kept_object_new(const struct jsn *object, const struct kube_decoder *d,
                                    bool keep_text);
/* NULL-safe. */
void kept_object_free(struct kept_object *k);
