/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One API request on its way through the server. */
#pragma once

#include "src/base/arena.h"
#include "src/cluster/apiserver/types/resource.h"
#include "src/http/server.h"
#include "src/http/url.h"
#include "src/json/jsn.h"

struct apiserver;

/* Who asks. */
struct api_user {
    const char *name;
    const char *uid;           /* NULL: none */
    const char *const *groups; /* NULL-terminated; may be NULL */
    const struct jsn *extra;   /* lists of texts by key; may be NULL */
};

enum api_verb {
    VERB_GET,
    VERB_LIST,
    VERB_WATCH,
    VERB_CREATE,
    VERB_UPDATE,
    VERB_PATCH,
    VERB_DELETE,
    VERB_DELETE_COLLECTION,
};

enum field_validation { FIELDS_IGNORE, FIELDS_WARN, FIELDS_STRICT };

/*
 * Everything a handler makes for one request lives in its arena and vanishes with it.  A function
 * that fails returns a negative number and has put a Status object into `failure` (see status.h);
 * whoever called it just returns that number, up to the dispatcher, which answers.
 */
struct api_call {
    struct apiserver *server;
    struct http_exchange *exchange; /* NULL once the client has gone away, and for inner calls */
    struct arena arena;
    struct url_query query;
    struct api_user user;
    const char *user_agent;
    bool pretty; /* JSON is laid out for people */

    enum api_verb verb;
    const struct resource *res;    /* as asked for */
    const struct resource *stored; /* where its objects are kept: res->stored or res */
    const struct subresource *sub; /* NULL: the object itself */
    const char *ns;                /* "" for cluster-wide kinds and for lists over all namespaces */
    const char *name;              /* NULL for collections */

    bool dry_run;
    enum field_validation fields;
    const char *manager; /* field manager; never NULL for writes */
    bool force;          /* of apply */
    bool applied;        /* managedFields are there already, from server-side apply */
    bool binding;        /* this write assigns a pod to a node */
    bool finalizing;     /* this write ends a namespace */

    const char **warnings;
    size_t n_warnings;
    size_t cap_warnings;

    struct jsn *failure;   /* Status, set by whoever failed */
    int64_t retry_after_s; /* for the Retry-After header; 0: none */
};

/* A Warning header for the answer; copied. */
void call_warn(struct api_call *c, const char *fmt, ...) PRINTF(2, 3);

/* "2026-01-09T10:00:00Z", the time of the request. */
const char *call_now(struct api_call *c);

/* What the store calls a resource: "pods", "nodesets.slinky.slurm.net"; in the arena. */
const char *resource_store_name(struct arena *a, const struct resource *stored);
const char *call_store_name(struct api_call *c);
/* Does the store call it that? */
bool resource_is_stored_as(const struct resource *r, const char *name);

/* A query parameter: the first of that name, NULL if there is none; and as a flag:
 * given, and neither "0" nor "false", is true (clients write "true", "True", "1" or nothing). */
const char *call_param(const struct api_call *c, const char *key);
bool call_param_true(const struct api_call *c, const char *key);
/* Is JSON to be laid out for people?  As ?pretty says, or else for curl, wget and browsers. */
bool call_is_by_hand(const struct api_call *c);
