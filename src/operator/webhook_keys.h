/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The certificate of the webhook, as a Secret; and the trust in it. */
#pragma once

#include "src/json/jsn.h"

/* What the webhook is called: its Service, its Secret and its ValidatingWebhookConfiguration. */
struct webhook_name {
    const char *name;
    const char *namespace;
    const char *domain; /* of the cluster; NULL: cluster.local */
};

/* All PEM, in an arena. */
struct webhook_keys {
    const char *cert_pem;
    const char *key_pem;
    const char *bundle_pem; /* who is to be trusted: the present authority, then the last one */
};

/*
 * A Secret's keys.  Fails with a sentence if one is missing, or if nobody could be served with
 * them. Without ca.crt the certificate itself is what is trusted.
 */
int webhook_keys_decode(struct arena *a, const struct jsn *secret, struct webhook_keys *ret,
                        struct err *e) MUST_CHECK;

/* Make new ones, for all names of the Service; `before` (or NULL) stays in the bundle. */
int webhook_keys_make(struct arena *a, const struct webhook_name *n,
                      const struct webhook_keys *before, struct webhook_keys *ret,
                      struct err *e) MUST_CHECK;

/* The Secret that holds them; `old` (or NULL) is the one that it replaces. */
struct jsn *webhook_keys_secret(struct arena *a, const struct webhook_name *n,
                                const struct webhook_keys *keys, const struct jsn *old);

/* Did we make the Secret?  Others are used as they are, and never written. */
bool webhook_keys_is_ours(const struct jsn *secret);
/* Good for another 30 days, for all names, and signed by the first of the bundle? */
bool webhook_keys_are_good(struct arena *a, const struct webhook_name *n,
                           const struct webhook_keys *keys);

/*
 * A JSON patch that has a ValidatingWebhookConfiguration trust the bundle, for each of its webhooks
 * that leads to our Service; NULL: there is nothing to change.
 */
struct jsn *webhook_trust_patch(struct arena *a, const struct webhook_name *n,
                                const struct jsn *configuration, const char *bundle_pem);
