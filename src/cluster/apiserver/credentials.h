/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The server's credentials on disk: loaded, checked, made again, renewed. */
#pragma once

#include "src/cluster/apiserver/account_token.h"
#include "src/http/cert.h"

/* Whose they are.  After the administrator come processes of ours: each is a user
 * system:slurmkeeper:NAME without a group, and what it may do is in its role. */
enum credential {
    CREDENTIAL_SERVER,
    CREDENTIAL_ADMIN,
    CREDENTIAL_NODE,
    CREDENTIAL_OPERATOR,
    CREDENTIAL_SERVE,
    CREDENTIALS
};

/*
 * Files of STATE/pki, readable by their owner only.  A key and its certificate always belong
 * together, whatever was on disk.
 */
struct credentials {
    char *dir;     /* STATE/pki */
    char *address; /* where the server is reached */
    struct cert_pair authority;
    struct cert_pair pairs[CREDENTIALS];
    struct token_key token_key;
};

/*
 * Load what is there, make what is missing.  What is damaged is made again where nobody loses by
 * it, and logged: the pairs, and the authority's certificate, from its key.  A lost authority key
 * or token key is an error that says what to do.
 */
int credentials_load(struct credentials *c, const char *state_dir, const char *address,
                     struct err *e) MUST_CHECK;
void credentials_done(struct credentials *c);

/* Renew what has less than a third of its life left, or begins in the future since the clock was
 * set back.  *ret_changed: there are new ones. */
int credentials_renew(struct credentials *c, bool *ret_changed, struct err *e) MUST_CHECK;

/* "server", "admin", "node": of the files and the kubeconfig. */
const char *credential_name(enum credential which);

/* When to ask that again. */
int64_t credentials_next_look_ms(void);
