/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The API server's inside: what its files share. */
#pragma once

#include "src/cluster/apiserver/apiserver.h"
#include "src/cluster/apiserver/call.h"
#include "src/cluster/apiserver/inside.h"
#include "src/cluster/apiserver/store.h"
#include "src/cluster/apiserver/types/registry.h"

struct apiserver {
    struct loop *loop;
    int lock_fd; /* one server a state directory */
    struct store *store;
    struct registry *registry;
    struct access *access;                   /* certificates and tokens */
    struct rbac_index *rbac;                 /* who may do what */
    struct rbac_aggregate *aggregate;        /* roles that take their rules from others */
    struct account_secrets *account_secrets; /* tokens in Secrets */
    struct watch_hub *watches;               /* streams of changes */
    struct collector *collector;             /* garbage collection */
    struct namespaces *namespaces;           /* their beginning and end */
    struct own_service *own_service;         /* default/kubernetes */
    struct protection *protection;           /* claims and volumes in use */
    struct crd_controller *crds;             /* custom resource definitions */
    struct compactor *compactor;             /* forgets old versions */
    struct discovery *discovery;
    struct openapi *openapi;
    struct http_tls *tls;
    struct renewal *renewal; /* of certificates */
    struct http_server *http;
    struct loop_source *turn_hook;
    struct list waiting; /* answers that wait for the commit of this turn */
    struct apiserver_observer {
        store_event_fn fn;
        void *arg;
    } *observers;
    size_t n_observers;
    size_t cap_observers;
    char *state_dir;
    char *node_socket;     /* of the process that runs pods; it need not be there yet */
    inside_admit_fn admit; /* NULL: nobody is asked */
    void *admit_arg;
    int64_t history_ms;
    bool ready;
};
