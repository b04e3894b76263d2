/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a kind needs to see of other objects while it decides about one. */
#pragma once

#include "src/cluster/apiserver/call.h"

/* One object's stored text; return false to stop. */
typedef bool (*lookup_fn)(void *arg, struct str data);

/* The current state of an object of a built-in kind, in the call's arena.  -ENOENT: there is none;
 * every other failure has failed the call. */
int lookup_get(struct api_call *c, const char *resource, const char *ns, const char *name,
               struct jsn **ret_object);

/* Visit all objects of a resource in a namespace, or in all (NULL). */
int lookup_each(struct api_call *c, const char *resource, const char *ns, lookup_fn fn, void *arg);

/* As lookup_each, but parsed; the trees live in the call's arena. */
typedef bool (*lookup_object_fn)(void *arg, struct jsn *object);
int lookup_each_object(struct api_call *c, const char *resource, const char *ns,
                       lookup_object_fn fn, void *arg);
