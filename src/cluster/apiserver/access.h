/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Access: who may talk to the server, and the credentials it hands out. */
#pragma once

#include "src/cluster/apiserver/call.h"

/*
 * The state directory holds, readable by its owner only:
 *   pki/ca.crt ca.key          the authority, made at the first start
 *   pki/server.crt server.key  made anew when it lacks a name or is about to expire
 *   pki/admin.crt admin.key    the administrator's (O=system:masters)
 *   pki/token.key              signs service account tokens
 *   admin.kubeconfig           everything a client needs, in one file
 */
struct access;

/* Load or make the credentials; `address` is where the server will be reached ("127.0.0.1"). */
int access_new(const char *state_dir, const char *address, struct access **ret_access,
               struct err *e) MUST_CHECK;
struct access *access_free(struct access *a);
DEFINE_AUTO(struct access, access_free);

const char *access_server_cert(const struct access *a);
const char *access_server_key(const struct access *a);
const char *access_authority(const struct access *a);

/* Write admin.kubeconfig (0600) for a server on this address and port. */
int access_write_kubeconfig(const struct access *a, const char *address, int port,
                            struct err *e) MUST_CHECK;

/* Who sent this?  By client certificate or bearer token; false: nobody known. */
bool access_identify(const struct access *a, struct arena *arena, const struct http_exchange *x,
                     struct api_user *ret_user);

/* A signed token for a service account, good until then (seconds since 1970). */
char *access_make_token(const struct access *a, struct arena *arena, const char *ns,
                        const char *account, const char *uid, int64_t expires_s);
