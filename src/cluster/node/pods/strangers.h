/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pods that run here and that the API server does not have. */
#pragma once

#include "src/cluster/node/node_private.h"

struct strangers;

struct strangers *strangers_new(struct node *n);
struct strangers *strangers_free(struct strangers *s);

/* Look for pods that run and have no record that can be read: the state directory is another. */
void strangers_look_for_unrecorded(struct strangers *s);
/* The API server has been listed: hold what is on disk against it. */
void strangers_look(struct strangers *s);
/* The API server seems not to have this pod.  It runs on until that is judged. */
void strangers_missing(struct strangers *s, struct worker *w);
/* The API server has the pod (again). */
void strangers_found(struct strangers *s, struct worker *w);
/* A version of the store was seen. */
void strangers_note_version(struct strangers *s, const char *version);

/* May a pod of this name not begin, since another one of that name may still run here? */
bool strangers_hold(const struct strangers *s, const char *ns, const char *name, const char *uid);
/* Does this pod run without a record, where its directory is?  Then it is taken over with the API's
 * object, and no more counted here. */
bool strangers_take_unrecorded(struct strangers *s, const char *uid);
/* Has the store been judged since the start?  Before that no pod begins. */
bool strangers_ready(const struct strangers *s);
/* How many there are, and a sentence that names them, in `a`; NULL: none. */
const char *strangers_sentence(const struct strangers *s, struct arena *a);
