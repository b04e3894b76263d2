/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What controllers that live inside of the API server's process may use.
 *
 * This is the whole of it: they read and list what is there, see committed changes, write as
 * themselves, and may be asked before something is stored.  How the server does it is its own
 * affair (tools/check-layers): no controller sees the store, a call or a Status.
 */
#pragma once

#include "src/base/arena.h"
#include "src/base/err.h"
#include "src/cluster/apiserver/eviction.h"
#include "src/cluster/apiserver/kinds/labelselector.h"
#include "src/cluster/apiserver/parts.h"
#include "src/cluster/apiserver/quota.h"
#include "src/cluster/apiserver/row.h"
#include "src/cluster/apiserver/workset.h"

struct apiserver;
struct api_call;
struct causes;

/* The loop that the server runs on. */
struct loop *inside_loop(const struct apiserver *s);

/* Resources are named as the store does: "pods", "nodesets.slinky.slurm.net". */
struct inside_type {
    const char *api_version;
    const char *kind;
};
struct inside_type inside_type(const struct apiserver *s, struct arena *a, const char *resource);

/*
 * Reading.  What earlier writes of this turn made is seen, committed or not.  A stored text that
 * does not parse is an error: deciding as if it were not there would be worse.
 */

/* The current state of an object, in the arena.  -ENOENT: there is none. */
int inside_get(struct apiserver *s, struct arena *a, const struct store_key *k,
               struct jsn **ret_object, struct err *e) MUST_CHECK;
/* Visit the objects of a namespace, or of all (NULL), as text. */
int inside_each(struct apiserver *s, const char *resource, const char *ns, store_row_fn fn,
                void *arg, struct err *e) MUST_CHECK;
/* Visit the writes of this turn alone; deletions are left out. */
void inside_each_pending(struct apiserver *s, const char *resource, store_row_fn fn, void *arg);

/*
 * Observers see every committed change, in order, after the watches and the server's own
 * controllers have.  They write in later turns (workset.h).
 */
void inside_observe(struct apiserver *s, store_event_fn fn, void *arg);

/*
 * Writing, the way of a client: defaults, admission, validation.  The error has the sentence of the
 * Status.  The state that an update starts from is read again, so that two writes of one object in
 * a turn add up; an object that is gone, or that another of its name has replaced, is passed over.
 */
int inside_create(struct apiserver *s, const char *resource, const struct jsn *object,
                  struct err *e) MUST_CHECK;
/* Everything but the status. */
int inside_update(struct apiserver *s, const char *resource, const struct jsn *object,
                  struct err *e) MUST_CHECK;
/* The status, and annotations along with it where there are any. */
int inside_update_status(struct apiserver *s, const char *resource, const struct jsn *object,
                         struct err *e) MUST_CHECK;
/* What the object owns goes after it. */
int inside_delete(struct apiserver *s, const char *resource, const struct jsn *object,
                  struct err *e) MUST_CHECK;

/* A create or an update of any kind, before it is stored. */
struct inside_write {
    struct arena *arena;
    const char *group;
    const char *version;
    const char *kind;
    const char *subresource; /* NULL: the object itself */
    const struct jsn *object;
    const struct jsn *old; /* NULL: it is new */
    struct api_call *call; /* the server's own */
    struct causes *causes; /* the server's own */
};
/* Called for each; whoever finds something wrong says so by inside_refuse, as often as there is. */
typedef void (*inside_admit_fn)(void *arg, struct inside_write *w);
void inside_admit(struct apiserver *s, inside_admit_fn fn, void *arg);

/* The client gets a 422 with this cause ("FieldValueInvalid"), beside others. */
void inside_refuse(struct inside_write *w, const char *reason, const char *field,
                   const char *sentence);
/* The client gets a warning, and the write goes on. */
void inside_warn(struct inside_write *w, const char *field, const char *sentence);
