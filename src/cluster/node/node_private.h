/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts of the node share; nobody else includes it. */
#pragma once

#include "src/base/map.h"
#include "src/cluster/node/cgroup.h"
#include "src/cluster/node/job.h"
#include "src/cluster/node/network/bridge.h"
#include "src/cluster/node/node.h"
#include "src/cluster/node/pods/env.h"
#include "src/cluster/node/runtime/rootfs.h"
#include "src/http/client.h"
#include "src/http/server.h"
#include "src/kube/cache.h"
#include "src/kube/event.h"

struct binder;
struct claims;
struct dns_server;
struct machine;
struct services;
struct strangers;
struct tokens;
struct worker;

struct node {
    struct loop *loop;
    char *state_dir;
    char *dir; /* state_dir/node */
    char *cluster;
    char *name; /* of the Node object */
    char *host_ip;
    char *runtime;      /* the program */
    char *runtime_root; /* where it keeps its state */
    char *shim;         /* our helper program */
    int lock_fd;

    struct cgroup_tree *cgroups;
    struct rootfs *rootfs;
    struct etc_follow *etc;
    struct bridge bridge;
    uint64_t capabilities;
    int64_t cpu_milli; /* of the machine */
    int64_t memory_bytes;
    int64_t tasks; /* how many processes and threads the machine can have */

    struct kube_target *target;
    struct kube_client *client;
    struct kube_recorder *recorder;
    struct kube_cache *pods;
    struct kube_cache *configs;
    struct kube_cache *secrets;
    struct kube_cache *services_cache;
    struct kube_cache *endpoints;
    struct kube_cache *claims_cache;
    struct kube_cache *volumes_cache;
    struct kube_cache *nodes;

    struct http_client *http;
    struct http_server *server;
    struct machine *machine;
    struct binder *binder;
    struct claims *claims;
    struct services *services;
    struct dns_server *dns;
    struct tokens *tokens;
    struct strangers *strangers;
    struct map workers; /* uid -> struct worker, owned */
    struct object_source source;
    struct loop_source *retry; /* of pods that could not be begun */
    bool closing;
};

/* Find a pod's worker; NULL if it does not run here. */
struct worker *node_find(const struct node *n, const char *ns, const char *name);
/* A pod's address or readiness may be another. */
void node_pod_changed(struct node *n, struct worker *w);
/* A worker has done everything: it is freed at the end of the turn. */
void node_forget(struct node *n, struct worker *w);

/* Begin to follow the API (node_watch.c); and stop. */
void node_open_caches(struct node *n);
void node_free_caches(struct node *n);
/* ConfigMaps and Secrets, as far as they are known. */
struct object_source node_object_source(struct node *n);
/* Begin the pods that are ours and have no worker yet. */
void node_begin_pods(struct node *n);

/* Say something about a pod in an event; `container` may be NULL. */
struct pod_spec;
void node_event(struct node *n, const struct pod_spec *p, const char *container,
                enum kube_event_type type, const char *reason, const char *fmt, ...) PRINTF(6, 7);

/* Environment variables of Services and the API's own address; in `a`, NULL-terminated. */
const char **node_service_env(struct node *n, struct arena *a, const struct pod_spec *p);
