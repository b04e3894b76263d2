/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pods as workloads see them: their state, and how one is made from a template. */
#pragma once

#include "src/cluster/workloads/owned.h"

bool pod_ready(const struct jsn *pod);
/* Ended for good: phase Succeeded or Failed. */
bool pod_over(const struct jsn *pod);
bool pod_in_phase(const struct jsn *pod, const char *phase);
/* Neither ended nor being deleted. */
bool pod_active(const struct jsn *pod);
/*
 * How many more may be made now, of an owner that has these.  Pods that no node takes fill the
 * server and nothing else: while PODS_UNPLACED_MAX of them wait, no more are made; each that gets a
 * node leads to another look.
 */
#define PODS_UNPLACED_MAX 250
int64_t pods_room(const struct jsn *pods);
/* Ready for that long; if it will be later, the plan is told to look again then. */
bool pod_available(struct plan *p, const struct jsn *pod, int64_t min_ready_s);
/* A condition of any object, by its type; NULL if it is not there. */
const struct jsn *pod_condition(const struct jsn *object, const char *type);

/* A pod from a template with the owner as its controller; without a name. */
struct jsn *pod_of_template(struct arena *a, const struct jsn *template, const struct owner *o);

/*
 * A short text that stands for a template, as Kubernetes writes hashes into names.  `collisions`
 * tells apart templates that would share one.
 */
const char *template_hash(struct arena *a, const struct jsn *template, int64_t collisions);

/* A count, or a percentage of `of`, rounded up or down; `otherwise` if absent or malformed. */
int64_t count_of(const struct jsn *v, int64_t of, bool up, int64_t otherwise);
