/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kind Accounting: slurmdbd, which keeps the records, accounts and limits of clusters. */
#pragma once

#include "src/api/condition.h"
#include "src/api/meta.h"
#include "src/api/problems.h"
#include "src/api/refs.h"
#include "src/api/service.h"
#include "src/api/template.h"

#define ACCOUNTING_PORT 6819
#define ACCOUNTING_DATABASE_PORT 3306
#define ACCOUNTING_DATABASE "slurm_acct_db"
/* Of our own database, where storageConfig is left out. */
#define ACCOUNTING_DATABASE_USER "slurm"
#define ACCOUNTING_PASSWORD_KEY "password"
/* So that the names of everything made from it stay names: labels have 63 characters. */
#define ACCOUNTING_NAME_MAX 41

/* Of an Accounting: how much storage its own database claims ("20Gi"); and of which class. */
#define ACCOUNTING_SIZE_ANNOTATION API_OWN_GROUP "/database-size"
#define ACCOUNTING_CLASS_ANNOTATION API_OWN_GROUP "/database-storage-class"
/* Of an Accounting: the image of its own database, where it is not the one beside the operator's.
 */
#define ACCOUNTING_IMAGE_ANNOTATION API_OWN_GROUP "/database-image"

/* A database that is there already. */
struct accounting_storage {
    const char *host;
    int32_t port;
    const char *database;
    const char *username;
    const struct api_key_ref *password_key_ref;
};

struct accounting_spec {
    const struct api_key_ref *slurm_key_ref;
    const struct api_key_ref *jwt_hs256_key_ref;
    const struct api_key_ref *jwt_key_ref;
    const struct api_key_ref *jwks_key_ref;
    bool external;
    const struct api_external *external_config;
    const struct jsn *slurmdbd;
    struct api_template template;
    const struct accounting_storage *storage; /* NULL: a database of our own */
    const char *extra_conf;
    struct api_service service;
};

struct accounting_status {
    int64_t observed_generation;
    struct api_conditions conditions;
};

struct accounting {
    struct api_meta meta;
    struct accounting_spec spec;
    struct accounting_status status;
};

extern const struct jsn_field accounting_fields[];
extern const struct jsn_field accounting_status_fields[];

/* Decode into `a`; nothing points into v.  The error names the field. */
int accounting_decode(struct arena *a, const struct jsn *v, struct accounting *ret,
                      struct err *e) MUST_CHECK;

/* Where slurmdbd answers: its Service, or wherever an external one is.  In `a`. */
const char *accounting_host(struct arena *a, const struct accounting *acct);
int32_t accounting_port(const struct accounting *acct);
/* Does slurmdbd answer, as its status says?  Then slurm.conf may name it. */
bool accounting_answers(const struct accounting *acct);
/* The key that signs users' tokens, as declared; NULL: none is. */
const struct api_key_ref *accounting_jwt_key(const struct accounting *acct);
/* Does the Secret hold several keys (slurm.jwks), and not one (slurm.key)? */
bool accounting_has_key_set(const struct accounting *acct);
/* The last value that extraConf gives a setting of slurmdbd.conf, in `a`; NULL: none. */
const char *accounting_extra(struct arena *a, const struct accounting *acct, const char *key);

/* Everything that the object alone tells. */
void accounting_check(const struct accounting *acct, struct api_problems *p);
/* What may not change. */
void accounting_check_update(const struct accounting *acct, const struct accounting *old,
                             struct api_problems *p);
