/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests about running pods, passed on to the node process over its socket. */
#pragma once

#include "src/cluster/apiserver/apiserver.h"

struct node_proxy;

/* `socket` is the path of the node's socket, which need not be there yet. */
struct node_proxy *node_proxy_new(struct loop *l, const char *socket);
struct node_proxy *node_proxy_free(struct node_proxy *p);

/* The hooks that do it; they borrow the proxy. */
struct apiserver_hooks node_proxy_hooks(struct node_proxy *p);
