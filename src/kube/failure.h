/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What an API server refuses, as an error with its class. */
#pragma once

#include "src/base/str.h"
#include "src/json/jsn.h"

/* Why a call failed.  Without an answer from the server code is 0 and reason empty. */
struct kube_failure {
    struct err err;
    int code;           /* HTTP status, or the code of a Status object */
    char reason[48];    /* "NotFound", "AlreadyExists", "Conflict", "Invalid", ... */
    int retry_after_ms; /* what the server asks for; 0: nothing */
};

/*
 * Fill from an answer: an HTTP status that is no success and its body, a Status object as a rule.
 * `what` begins the sentence ("get pods 'a/b'").  The errno tells the cases apart that callers ask
 * for:  -ENOENT not there; -EEXIST there already, -ESTALE changed meanwhile (both ERR_CONFLICT);
 * -EIDRM the version asked for is gone (ERR_CONFLICT: read again); -EACCES who are you, -EPERM not
 * you; -EBUSY too many requests or unavailable, -EREMOTEIO broken, -ETIMEDOUT (all ERR_RETRY);
 * -EMSGSIZE too large; -EINVAL everything else that is our fault.
 */
void kube_failure_from_answer(struct kube_failure *f, const char *what, int code, struct str body);

/* The same from a Status object, as watches bring it. */
void kube_failure_from_status(struct kube_failure *f, const char *what, const struct jsn *status);
