/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The agent's HTTP interface. */
#pragma once

#include "src/agent/apply/engine.h"
#include "src/base/secret.h"
#include "src/http/server.h"

/* Borrowed by the servers that use it. */
struct routes {
    struct loop *loop;
    struct link *link;
    struct hub *hub;
    struct engine *engine;
    struct metrics *metrics;
    const struct secret *token;      /* NULL: whoever reaches the socket may do everything */
    const struct secret *next_token; /* taken as well; NULL or empty: there is none */
};

/* An http_handler_fn; `arg` is a struct routes. */
void routes_handle(void *arg, struct http_exchange *x);

/* An http_head_fn: who has no token is refused before a body is read. */
void routes_head(void *arg, const struct http_exchange *x, struct http_verdict *v);
/* An http_refusal_fn. */
void routes_refuse(void *arg, int status, const char *why, struct buf *body,
                   const char **ret_content_type);

/* For the files of the routes. */
void reply_json(struct routes *r, struct http_exchange *x, const char *route, int status,
                const struct jsn *body);
void reply_error(struct routes *r, struct http_exchange *x, const char *route, int status,
                 const char *fmt, ...) PRINTF(5, 6);
/* The request's body, an object; else the error was replied and false is returned. */
bool body_take(struct routes *r, struct http_exchange *x, const char *route, struct arena *a,
               struct jsn **ret);

/* routes_config.c, routes_state.c, routes_slurm.c */
void route_config(struct routes *r, struct http_exchange *x, bool plan_only);
void route_state(struct routes *r, struct http_exchange *x);
void route_node(struct routes *r, struct http_exchange *x, const char *name, bool delete);
void route_reservation(struct routes *r, struct http_exchange *x, const char *name, bool delete);
