/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who we are to the API server, right now: tokens and certificates, kept fresh. */
#pragma once

#include "src/base/list.h"
#include "src/http/client.h"
#include "src/kube/target.h"

struct kube_login;

/* Borrowed until the loop's next turn. */
struct kube_credential {
    const char *authorization; /* a whole header line, secret; NULL: none */
    struct http_client_tls tls;
    unsigned int generation; /* of what is secret in it: rises with every change */
};

/* Exactly one of `c` and `e` is NULL. */
typedef void (*kube_login_fn)(void *arg, const struct kube_credential *c, const struct err *e);

/* A place in the queue for a credential; embedded in who waits. */
struct kube_login_wait {
    struct list link;
    kube_login_fn fn;
    void *arg;
};

/* The target is borrowed and must outlive the login. */
struct kube_login *kube_login_new(struct loop *l, const struct kube_target *t);
/* Whoever still waits is never called. */
struct kube_login *kube_login_free(struct kube_login *l);
DEFINE_AUTO(struct kube_login, kube_login_free);

/*
 * The credential to use now.  Files are read again once a minute; where that fails, what they held
 * before goes on being used.  Returns 0 and the credential; or 1 if a plugin has to run first: then
 * `w` (fn and arg set, not linked) is called back, in a later turn, unless it is forgotten.
 */
int kube_login_get(struct kube_login *l, struct kube_login_wait *w,
                   struct kube_credential *ret_credential, struct err *e) MUST_CHECK;
void kube_login_forget(struct kube_login_wait *w);

/*
 * The server did not accept the credential of this generation.  Returns true if asking again gives
 * another one: by now there is a newer one, a file has changed, or a plugin can be run again.
 */
bool kube_login_refused(struct kube_login *l, unsigned int generation);
