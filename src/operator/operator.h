/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The operator: watches the cluster, plans, carries out; for ever. */
#pragma once

#include "src/build/env.h"
#include "src/kube/client.h"

struct operator;
struct webhook_options;

/* All strings are borrowed and outlive the operator. */
struct operator_options {
    const char *const *namespaces; /* NULL-terminated; NULL or empty: all */
    bool leader_elect;
    const char *lease_namespace; /* NULL: the client's */
    const char *pod_uid;         /* the container that this is the first process of; NULL: none */
    const char *metrics;         /* address of /healthz, /readyz, /metrics; NULL: none */
    const struct webhook_options *webhook; /* NULL: none */
    struct build_env env;
};

/* Starts at once.  The client must outlive it. */
int operator_new(struct kube_client *c, const struct operator_options *o,
                 struct operator** ret_operator, struct err *e) MUST_CHECK;
struct operator* operator_free(struct operator* op);
DEFINE_AUTO(struct operator, operator_free);

/* Give the lead back, if we have it, then call `done`; nothing is written any more. */
void operator_stop(struct operator* op, void (*done)(void *arg), void *arg);

/* Where metrics are served (useful after port 0); 0: nowhere. */
int operator_port(const struct operator* op);
/* Where the webhook is; 0: nowhere. */
int operator_webhook_port(const struct operator* op);
