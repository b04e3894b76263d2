/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ask an API server and wait for the answer: for the command line, which has nothing else to do. */
#pragma once

#include "src/kube/client.h"

struct ask;

/* Nothing is connected to yet. */
int ask_new(const char *kubeconfig, struct ask **ret_ask, struct err *e) MUST_CHECK;
struct ask *ask_free(struct ask *k);
DEFINE_AUTO(struct ask, ask_free);

/* The namespace that is meant where none is named. */
const char *ask_namespace(const struct ask *k);

/* Send and wait.  *ret_value (may be NULL to drop it) is in `a`.  fn and arg of the request are not
 * used.  The failure's errnos are those of kube_failure. */
int ask_call(struct ask *k, const struct kube_request *r, struct arena *a, struct jsn **ret_value,
             struct err *e) MUST_CHECK;

/* Get one, or list all of a kind (the items, an array), in a namespace or in all (NULL). */
int ask_get(struct ask *k, struct arena *a, const struct kube_resource *what, const char *ns,
            const char *name, struct jsn **ret_value, struct err *e) MUST_CHECK;
int ask_list(struct ask *k, struct arena *a, const struct kube_resource *what, const char *ns,
             struct jsn **ret_items, struct err *e) MUST_CHECK;

/* Server-side apply of any object, whatever its kind: found by the server's discovery. */
int ask_apply(struct ask *k, struct arena *a, const struct jsn *object, struct jsn **ret_object,
              struct err *e) MUST_CHECK;
