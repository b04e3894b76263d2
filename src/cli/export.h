/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between the files of `slurmkeeper export`: what was declared, and what it names. */
#pragma once

#include "src/kube/client.h"

/*
 * The object as somebody would write it: without status, without what the server or the operator
 * put there, without marks of the tool that applied it.  A new tree in `a`.
 */
struct jsn *export_declared(struct arena *a, const struct jsn *object);

/* A kind that objects of ours name. */
struct export_kind {
    const char *kind;
    struct kube_resource resource;
    bool secret; /* only exported where that was asked for */
};
/* NULL: nothing of it is exported. */
const struct export_kind *export_kind_find(const char *kind);

/* Called for each object that is named, perhaps more than once. */
typedef void (*export_named_fn)(void *arg, const char *kind, const char *name);
/* What the spec of an object of ours names in its namespace. */
void export_named(const struct jsn *object, export_named_fn fn, void *arg);
/* The Secrets that the operator made for it, and that another cluster would not have: keys of the
 * cluster, host keys of logins. */
void export_made_secrets(struct arena *a, const struct jsn *object, export_named_fn fn, void *arg);

/* Give containers that name no image "slurmkeeper/COMPONENT:TAG". */
void export_set_images(struct arena *a, struct jsn *object, const char *tag);
/* Does a container of it, or its pod, have a directory of the machine? */
bool export_uses_machine(const struct jsn *object);
/* Would its pods run the operator's default image? */
bool export_lacks_image(const struct jsn *object);

/*
 * Values for charts/slurm that give this cluster: the Controller, and all of `objects` (an array of
 * declared ones) that belong to it or are named by it.  -EINVAL: something cannot be said there.
 */
int export_values(struct arena *a, const struct jsn *controller, const struct jsn *objects,
                  struct jsn **ret_values, struct err *e) MUST_CHECK;
