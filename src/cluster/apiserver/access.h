/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Access: who may talk to the server, and the credentials it hands out. */
#pragma once

#include "src/cluster/apiserver/account_token.h"
#include "src/cluster/apiserver/call.h"
#include "src/cluster/apiserver/store.h"

/*
 * The state directory holds, readable by its owner only: pki/ (credentials.h), admin.kubeconfig
 * with everything a client needs, and the same as NAME.kubeconfig for each component.
 */
struct access;

/* Load or make the credentials; `address` is where the server will be reached ("127.0.0.1"). */
int access_new(const char *state_dir, const char *address, struct access **ret_access,
               struct err *e) MUST_CHECK;
struct access *access_free(struct access *a);
DEFINE_AUTO(struct access, access_free);

/* Renew what is about to expire; *ret_changed: the server's identity, its trust or the
 * administrator's pair is another one now. */
int access_renew(struct access *a, bool *ret_changed, struct err *e) MUST_CHECK;
const char *access_server_cert(const struct access *a);
const char *access_server_key(const struct access *a);
const char *access_authority(const struct access *a);

/* Write admin.kubeconfig and those of the components (0600), for a server on this address. */
int access_write_kubeconfigs(const struct access *a, const char *address, int port,
                             struct err *e) MUST_CHECK;

/* Where the accounts, pods, Secrets and nodes are that tokens stand for; borrowed.  Without a store
 * no token is good. */
void access_use_store(struct access *a, struct store *s);

/* Who issues the tokens, and whom they are for where nobody says otherwise. */
#define ACCESS_AUDIENCE ACCOUNT_TOKEN_ISSUER

/*
 * Who sent this?  By client certificate or bearer token; false: nobody known.  Needs the head of
 * the request only.  The user lives in the arena.
 */
bool access_identify(const struct access *a, struct arena *arena, const struct http_exchange *x,
                     struct api_user *ret_user);
/* Did the client send any credentials, good or not?  Who did not is system:anonymous. */
bool access_offered(const struct http_exchange *x);
struct api_user access_anonymous(void);
/* A service account as a user, with the groups that it is in. */
struct api_user access_account_user(struct arena *arena, const char *ns, const char *account);

/* Is the token good for one of these audiences (NULL or none: the API)?  *ret_audiences are those
 * that it is good for. */
bool access_check_token(const struct access *a, struct arena *arena, struct str token,
                        const struct jsn *audiences, struct api_user *ret_user,
                        struct jsn **ret_audiences);

/* Sign a token. */
char *access_make_token(const struct access *a, struct arena *arena, const struct account_token *t);

/* Is this somebody who may do everything (of the group system:masters)? */
bool access_is_administrator(const struct api_user *u);
