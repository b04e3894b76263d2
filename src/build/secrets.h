/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The Secrets that are made for a Controller that names none. */
#pragma once

#include "src/build/cluster.h"
#include "src/json/jsn.h"

/* How many random bytes a key is made from, and how long it is. */
#define SECRET_KEY_BYTES 1024

/*
 * Secret <name>-auth-slurm or <name>-auth-jwt, from randomness that the caller brings; it contains
 * nothing else.  NULL if the Controller names a Secret of its own.  Made once: whoever finds it
 * leaves it alone.
 */
struct jsn *build_slurm_secret(struct arena *a, const struct build_cluster *c,
                               const unsigned char random[SECRET_KEY_BYTES]);
struct jsn *build_jwt_secret(struct arena *a, const struct build_cluster *c,
                             const unsigned char random[SECRET_KEY_BYTES]);

/* One key of a Secret, decoded; in `a`.  NULL: it is not there, or no base64. */
const char *build_secret_text(struct arena *a, const struct jsn *secret, const char *key);

/* How the agent beside slurmctld is known, and knows the operator. */
struct build_agent_keys {
    const char *cert_pem; /* for labels_agent_host */
    const char *key_pem;
    const char *token;
    const char *next_token;   /* to be used with the next certificate; NULL: none is announced */
    const char *previous_pem; /* the certificate before this one, still trusted; NULL: none */
};
#define AGENT_TOKEN "token"
#define AGENT_NEXT_TOKEN "next.token"
#define AGENT_CERT "tls.crt"
#define AGENT_KEY "tls.key"
#define AGENT_PREVIOUS "previous.crt"

/* Secret <name>-agent; NULL where there is no agent.  Made once, and again with
 * another certificate before that expires. */
struct jsn *build_agent_secret(struct arena *a, const struct build_cluster *c,
                               const struct build_agent_keys *keys);
