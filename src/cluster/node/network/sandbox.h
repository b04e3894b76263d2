/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sandbox of a pod: its namespaces and its interface, held by a pause process. */
#pragma once

#include "src/cluster/node/node_private.h"
#include "src/cluster/node/pods/pod_spec.h"

struct sandbox;

struct sandbox_events {
    void (*ready)(void *arg);
    void (*failed)(void *arg, const struct err *e); /* could not be made; it is gone */
    void (*lost)(void *arg);                        /* its process has ended; it is gone */
    void *arg;
};

/* Start to make one; nothing is called back inside.  `dir` is the pod's directory. */
struct sandbox *sandbox_new(struct node *n, const struct pod_spec *p, const char *dir,
                            const struct sandbox_events *events);
/* Take over the one that an earlier node process made; NULL if it no longer runs. */
struct sandbox *sandbox_adopt(struct node *n, const struct pod_spec *p, const char *dir,
                              const struct sandbox_events *events);
/* Let go of it: the namespaces stay. */
struct sandbox *sandbox_free(struct sandbox *s);
/* End it: the process, the interface; nothing is called back.  The address stays the pod's. */
struct sandbox *sandbox_end(struct sandbox *s);

bool sandbox_is_ready(const struct sandbox *s);
pid_t sandbox_pid(const struct sandbox *s);
/* The pod's address; the machine's own for hostNetwork; "" before it is known. */
const char *sandbox_ip(const struct sandbox *s);

/* End the sandbox that a pod's directory tells of, without a loop; for purging. */
void sandbox_end_at(const char *dir);
