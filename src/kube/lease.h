/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Leader election by a coordination.k8s.io/v1 Lease: at most one of several processes leads. */
#pragma once

#include "src/kube/client.h"

struct kube_election;

/*
 * Strings are borrowed during kube_election_new; zeros stand for the defaults.  It must hold that
 * lease_ms > renew_ms > 1.2 * retry_ms, and that lease_ms is whole seconds.
 */
struct kube_election_options {
    const char *namespace;
    const char *name;
    const char *identity;
    /* What the identities of those began with that were here before us and are certainly dead, such
     * as processes of this very container; NULL: nobody is. */
    const char *predecessors;
    int64_t lease_ms; /* others leave an unrenewed lease alone for so long: 4000 */
    int64_t renew_ms; /* we stop leading this long after the last renewal was sent: 3000 */
    int64_t retry_ms; /* between attempts: 750 */
    void (*started)(void *arg);                      /* we lead now */
    void (*stopped)(void *arg);                      /* no more: stop writing, now */
    void (*leader)(void *arg, const char *identity); /* who leads, when that changes; or NULL */
    void (*trouble)(void *arg, const struct kube_failure *f); /* an attempt failed; or NULL */
    void *arg;
};

/* Campaigns at once and for ever: who loses the lead campaigns again.  Nothing is called back
 * inside.  The client must outlive it. */
int kube_election_new(struct kube_client *c, const struct kube_election_options *o,
                      struct kube_election **ret_election, struct err *e) MUST_CHECK;
/* At once, without a call back and without giving the lease back.  May be called in a callback. */
struct kube_election *kube_election_free(struct kube_election *el);
DEFINE_AUTO(struct kube_election, kube_election_free);

/*
 * Do we lead at this very moment?  Also right where the process or the machine was asleep and no
 * timer has fired yet: ask it before each write that must not come from two.
 */
bool kube_election_leads(const struct kube_election *el);

/*
 * Stop: `stopped` is called (if we led), then the lease is given back, so that another need not
 * wait for its end; then `done` is called, in a later turn, also if giving back failed.  Nothing is
 * called back after that; kube_election_free remains to be called.
 */
void kube_election_stop(struct kube_election *el, void (*done)(void *arg), void *arg);
