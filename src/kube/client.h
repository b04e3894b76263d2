/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls to a Kubernetes API server: get, list, create, update, patch, apply, delete, streams. */
#pragma once

#include "src/http/client.h"
#include "src/json/jsn.h"
#include "src/kube/failure.h"
#include "src/kube/target.h"

struct kube_client;
struct kube_call; /* one call under way */

/* Zeros stand for the defaults; strings are borrowed during kube_client_new. */
struct kube_client_options {
    double per_second;          /* calls, on average: 50; negative: no limit */
    double burst;               /* calls at once: 100 */
    unsigned int max_in_flight; /* streams not counted: 32 */
    const char *user_agent;     /* "slurmkeeper/VERSION" */
    const char *field_manager;  /* who writes, in managedFields: "slurmkeeper" */
};

/* The target is borrowed and must outlive the client. */
int kube_client_new(struct loop *l, const struct kube_target *t,
                    const struct kube_client_options *o, struct kube_client **ret_client,
                    struct err *e) MUST_CHECK;
/* Calls under way are cancelled.  Not from inside a callback. */
struct kube_client *kube_client_free(struct kube_client *c);
DEFINE_AUTO(struct kube_client, kube_client_free);

struct loop *kube_client_loop(const struct kube_client *c);
/* The namespace of the target. */
const char *kube_client_namespace(const struct kube_client *c);

/* {"", "v1", "pods"}, {"apps", "v1", "statefulsets"}.  Static strings, as a rule.  A list without a
 * plural tells what resources the group's version has. */
struct kube_resource {
    const char *group; /* "" (or NULL) for the core */
    const char *version;
    const char *plural;
};

enum kube_verb {
    KUBE_GET,
    KUBE_LIST,
    KUBE_CREATE,
    KUBE_UPDATE,
    KUBE_PATCH_MERGE,
    KUBE_PATCH_JSON,
    KUBE_PATCH_STRATEGIC,
    KUBE_APPLY,       /* server-side; creates what is not there */
    KUBE_APPLY_FORCE, /* also takes fields from other managers */
    KUBE_DELETE,
    KUBE_DELETE_ALL, /* deletecollection */
};

/* Borrowed during the callback. */
struct kube_answer {
    int code;
    struct str text;
    struct jsn *value;   /* the text, parsed; in `arena`, which goes after the callback */
    struct arena *arena; /* of the value: to change it before it is sent back */
};

/* The end of a call, called exactly once, never inside kube_call_start; one of both is NULL.  The
 * call's handle is gone.  For a stream `a` means that the server ended it in order. */
typedef void (*kube_done_fn)(void *arg, const struct kube_answer *a, const struct kube_failure *f);

/* A piece of a successful stream. */
typedef void (*kube_chunk_fn)(void *arg, struct str data);

/* All pointers are borrowed during kube_call_start. */
struct kube_request {
    enum kube_verb verb;
    struct kube_resource resource;
    const char *namespace;    /* NULL: cluster-wide */
    const char *name;         /* NULL for list, create and delete-all */
    const char *subresource;  /* or NULL */
    const char *const *query; /* key, value, key, value, ..., NULL; or NULL */
    const struct jsn *body;   /* or NULL */
    int64_t deadline_ms;      /* all included; 0: 30 s; -1: none, for streams */
    bool urgent;              /* not held back by the rate limit: lease renewals */
    bool once;                /* a Retry-After of the server is told, not followed */
    bool plain;               /* the answer is no JSON: logs */
    kube_chunk_fn on_chunk;   /* set: the answer is a stream */
    kube_done_fn fn;
    void *arg;
};

/*
 * Start a call.  It waits for its turn under the rate limit and for credentials, is sent, and
 *  - is sent again, at most ten times, when the server answers 429 or 5xx with Retry-After, after
 *    that time;
 *  - is sent again once with fresh credentials, where there are any, on 401;
 *  - fails with what the server says, or what hinders the connection, otherwise; no blind retries.
 * The handle is valid until fn is called or the call is cancelled.
 */
struct kube_call *kube_call_start(struct kube_client *c, const struct kube_request *r);
/* Give up: nothing is called back any more.  The server may have carried the call out. */
void kube_call_cancel(struct kube_call *call);
