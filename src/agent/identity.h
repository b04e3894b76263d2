/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the agent is known by, and knows the operator by: files of a Secret, followed. */
#pragma once

#include "src/base/secret.h"
#include "src/http/server.h"

struct identity;

/* Load tls.crt, tls.key, token and next.token (which may be missing) of a directory; looks again
 * from time to time.  What is borrowed from it is good as long as it lives, and is renewed in
 * place. */
int identity_new(struct loop *l, const char *dir, struct identity **ret, struct err *e) MUST_CHECK;
struct identity *identity_free(struct identity *i);
DEFINE_AUTO(struct identity, identity_free);

struct http_tls *identity_tls(struct identity *i);
/* Is it the token that is asked for, or the one that comes after it? */
bool identity_admits(const struct identity *i, const struct secret *given);

/* Look now; true if there is another certificate or token. */
bool identity_look(struct identity *i);
