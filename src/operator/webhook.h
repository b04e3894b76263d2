/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The validating webhook: our kinds are checked when they are written, on any Kubernetes. */
#pragma once

#include "src/kube/client.h"
#include "src/operator/webhook_keys.h"
#include "src/operator/world.h"

/* What the webhook's objects are called, unless it is told otherwise. */
#define WEBHOOK_NAME "slurmkeeper-webhook"

struct webhook;

/* Borrowed; must outlive the webhook. */
struct webhook_options {
    const char *address;       /* where to listen */
    const char *name;          /* of Service, Secret and ValidatingWebhookConfiguration */
    const char *domain;        /* of the cluster; NULL: cluster.local */
    const char *client_ca_pem; /* who may ask; NULL: whoever reaches the port */
    uint32_t release;          /* of Slurm, where nothing else names one; 0: any */
};

/*
 * Listens at once; is ready when its certificate is the Secret's, and trusted.  `world` is where
 * other objects are looked up.  Works whether this operator leads or not.
 */
int webhook_new(struct kube_client *c, const struct world *world, const struct webhook_options *o,
                struct webhook **ret_webhook, struct err *e) MUST_CHECK;
struct webhook *webhook_free(struct webhook *w);
DEFINE_AUTO(struct webhook, webhook_free);

int webhook_port(const struct webhook *w);
/* Would an API server that is told to trust the Secret be answered? */
bool webhook_ready(const struct webhook *w);
/* A Secret has changed: look at ours again soon, if that was it. */
void webhook_secret_changed(struct webhook *w, const char *ns, const char *name);
