/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Users' settings laid over what is made: containers and pod specs. */
#pragma once

#include "src/api/problems.h"
#include "src/json/jsn.h"

/*
 * A new container in `a`: `base` with the user's settings over it.  Lists merge as in Kubernetes'
 * own patches (env by name, mounts by path, ports by number, the rest is replaced); args are put
 * after ours; a probe of the user's keeps our timing but not our way of asking.  The name stays.
 * Null and empty lists in it count as not given.  NULL or malformed settings change nothing; the
 * latter are a problem of `field`.
 */
struct jsn *merge_container(struct arena *a, const struct jsn *base, const struct jsn *user,
                            const char *field, struct api_problems *p);

/* The same for a pod spec; containers and volumes merge by name, and our containers come
 * first. */
struct jsn *merge_pod_spec(struct arena *a, const struct jsn *base, const struct jsn *user,
                           const char *field, struct api_problems *p);
