/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The embedded API server as a part of a process. */
#pragma once

#include "src/cluster/apiserver/call.h"
#include "src/loop/loop.h"

/*
 * Admission: called for each create and update of any kind before it is stored; the object may be
 * changed.  Returns 0, or fails the call (status.h).
 */
typedef int (*apiserver_admit_fn)(void *arg, struct api_call *c, struct jsn *object,
                                  const struct jsn *old);

struct store_event;

struct apiserver_options {
    const char *state_dir;
    const char *listen;      /* "127.0.0.1:6443"; port 0 takes any */
    bool allow_remote;       /* listen beyond loopback */
    const char *node_socket; /* of the process that runs pods; NULL: state_dir/node.sock */
    int64_t history_ms;      /* how long old versions stay; 0: five minutes */
};

/* Opens the store, makes certificates at the first start, listens, writes admin.kubeconfig. */
int apiserver_new(struct loop *l, const struct apiserver_options *o, struct apiserver **ret_server,
                  struct err *e) MUST_CHECK;
struct apiserver *apiserver_free(struct apiserver *s);
DEFINE_AUTO(struct apiserver, apiserver_free);

/*
 * Observers see every committed change, in order, after the watches and the server's own
 * controllers have.  They write in later turns (workset.h), through write.h, as clients do.
 */
typedef void (*apiserver_observe_fn)(void *arg, const struct store_event *ev);
void apiserver_add_observer(struct apiserver *s, apiserver_observe_fn fn, void *arg);

void apiserver_set_admission(struct apiserver *s, apiserver_admit_fn fn, void *arg);
int apiserver_port(const struct apiserver *s);
