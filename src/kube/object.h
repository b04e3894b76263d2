/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An object as a cache holds it: small and immutable. */
#pragma once

#include "src/json/jsn.h"

/*
 * Never changes once it is made; a newer version is another object.  It is gone when
 * the newer one is there and everybody has been told.  Strings are the object's own.
 */
struct kube_object {
    const char *namespace; /* "" for cluster-wide kinds */
    const char *name;
    const char *uid;
    const char *version; /* metadata.resourceVersion */
    struct str text;     /* JSON without managedFields; empty if the cache keeps values alone */
    void *value;         /* what the cache's decoder made; NULL without one, or if it failed */
    const char *problem; /* why it failed; NULL if it did not */
};

/* Parse the text again. */
int kube_object_parse(const struct kube_object *o, struct arena *a, struct jsn **ret_value,
                      struct err *e) MUST_CHECK;

/* Makes a value of an object; what it returns is freed by `release` with the object.  NULL with `e`
 * set: the object is bad, which the cache carries along as its `problem`. */
struct kube_decoder {
    void *(*decode)(void *arg, const struct jsn *object, struct err *e);
    void (*release)(void *value);
    void *arg;
};
