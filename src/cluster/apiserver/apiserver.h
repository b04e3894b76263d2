/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The embedded API server as a part of a process. */
#pragma once

#include "src/base/err.h"
#include "src/loop/loop.h"

/* Controllers inside of the same process use inside.h. */
struct apiserver;

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

int apiserver_port(const struct apiserver *s);
