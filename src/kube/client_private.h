/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What client.c and call.c share; nobody else includes it. */
#pragma once

#include "src/kube/client.h"
#include "src/kube/login.h"
#include "src/kube/pace.h"

enum call_state { CALL_QUEUED, CALL_LOGIN, CALL_SENT, CALL_PAUSED, CALL_FAILED };

struct kube_client {
    struct loop *loop;
    struct http_client *http;
    const struct kube_target *target;
    struct kube_login *login;
    struct pace_bucket bucket;
    struct list calls; /* all */
    struct list queue; /* QUEUED, in order */
    struct loop_source *timer;
    unsigned int in_flight;
    unsigned int max_in_flight;
    char *user_agent; /* a header line */
    char *field_manager;
};

struct kube_call {
    struct kube_client *client;
    struct list link;
    struct list queued;
    enum call_state state;
    enum kube_verb verb;
    char *what; /* for errors */
    struct buf url;
    struct buf body;
    bool urgent;
    bool once;
    bool plain;
    bool counted; /* in in_flight */
    bool relogged;
    unsigned int retries;
    unsigned int generation; /* of the credential that it was sent with */
    int64_t deadline_ms;     /* on the loop's clock; -1: none */
    int64_t allowed_ms;
    struct loop_source *timer;
    struct kube_login_wait wait;
    struct http_call *http;
    struct buf refusal; /* of a stream: what the server says instead */
    struct kube_failure failure;
    kube_chunk_fn on_chunk;
    kube_done_fn fn;
    void *arg;
};

/* The call stands in the queue: start what may start. */
void client_pump(struct kube_client *c);
/* The call no longer counts as one in flight. */
void client_leave_flight(struct kube_call *call);
/* It is this call's turn: off the queue with it. */
void call_begin(struct kube_call *call);
