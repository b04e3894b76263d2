/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Objects between the store and a call. */
#pragma once

#include "src/cluster/apiserver/call.h"
#include "src/cluster/apiserver/parts.h"
#include "src/cluster/apiserver/store.h"

/*
 * In stored form an object is a jsn without kind and apiVersion, in the shape of c->stored.  All
 * trees live in the call's arena.
 */

/* The current state of an object of c->stored.  object_find answers -ENOENT without failing the
 * call; object_load fails it with 404. */
int object_find(struct api_call *c, const char *ns, const char *name, struct jsn **ret_object);
int object_load(struct api_call *c, const char *ns, const char *name, struct jsn **ret_object);

/* A row's text as a tree; brings objects written under an older schema up to date. */
int object_of_row(struct api_call *c, const struct store_row *row, struct jsn **ret_object);

/* Write: gives the object its new resourceVersion first.  Fails the call if the store does. */
int object_put(struct api_call *c, struct jsn *object);
/* Remove: the object is its last state, and gets the version of the removal. */
int object_drop(struct api_call *c, struct jsn *object);

/* The object as the caller asked for it: kind and apiVersion first, in c->res's form. */
struct jsn *object_present(struct api_call *c, const struct jsn *object);
/* The same from a row, as text, without parsing where nothing needs to change. */
int object_present_row(struct api_call *c, const struct store_row *row, bool with_kind,
                       struct buf *b);

/* "v1", "apps/v1". */
const char *object_api_version(struct arena *a, const struct resource *res);

/* A call of the server's own making, on one resource; done with call_done_inner. */
void call_init_inner(struct api_call *c, struct apiserver *s, const struct resource *stored);
void call_done_inner(struct api_call *c);
DEFINE_AUTO_DONE(struct api_call, call_done_inner);
