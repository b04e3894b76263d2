/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the operator would do: its plans, carried out on its caches alone. */
#pragma once

#include "src/base/err.h"
#include "src/plan/action.h"
#include "src/plan/pods.h"

struct preview;

/* Fill the caches, and wait until they are; of one namespace, or of all (NULL). */
int preview_new(const char *kubeconfig, const char *ns, struct preview **ret_preview,
                struct err *e) MUST_CHECK;
struct preview *preview_free(struct preview *w);
DEFINE_AUTO(struct preview, preview_free);

/* An object of ours, and what is planned for it now.  All of it is borrowed. */
struct preview_plan {
    const struct jsn *object;
    const struct actions *plan;
    const struct plan_pod *const *pods; /* that it controls */
    size_t n_pods;
    /* A StatefulSet or Deployment as it is; NULL: there is none. */
    const struct jsn *(*live)(void *arg, const char *kind, const char *name);
    void *arg;
};
typedef void (*preview_fn)(void *arg, const struct preview_plan *p);

/* Plan for an object, show the plan, and carry it out on the caches; returns whether anything was
 * written there.  Nothing goes to the server. */
bool preview_step(struct preview *w, const char *kind, const char *ns, const char *name,
                  preview_fn fn, void *arg);
