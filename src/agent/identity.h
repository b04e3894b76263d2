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
const struct secret *identity_token(const struct identity *i);
/* The one that comes after it; empty: none is announced. */
const struct secret *identity_next_token(const struct identity *i);

/* Look now; true if there is another certificate or token. */
bool identity_look(struct identity *i);
