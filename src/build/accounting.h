/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is made of an Accounting: slurmdbd, its configuration, and a database where none is named.
 */
#pragma once

#include "src/build/cluster.h"
#include "src/json/jsn.h"

#define ACCOUNTING_PASSWORD_RANDOM 32
/* The files of Secret <name>-accounting. */
#define ACCOUNTING_CONF "slurmdbd.conf"
#define ACCOUNTING_PROBE "probe.conf"
/* Where the database's container finds its password. */
#define DATABASE_PASSWORD_DIR "/run/secrets/database"

/* A snapshot; everything is borrowed. */
struct build_accounting {
    const struct accounting *acct;
    /* The cluster of the Controller that refers to it.  It always has a Controller: where none
     * refers to the Accounting, one that says no more than the Accounting does. */
    const struct build_cluster *cluster;
    /* Keys are those of the Accounting's own Secrets, and not of the Controller's pods: its
     * slurmctld runs elsewhere, or there is none. */
    bool own_keys;
    const char *key_stage; /* of the Controller's keys: "3-accept"; NULL: none */
};

/* Service <name>-accounting; the user's settings over it. */
struct jsn *build_accounting_service(struct arena *a, const struct build_accounting *b);

/*
 * Secret <name>-accounting: slurmdbd.conf, and a slurm.conf by which slurmdbd's own pod asks it.
 * `password` as its Secret has it; -EINVAL where slurmdbd.conf cannot hold it.  *ret_cut: it ended
 * with a line break, which was left out.
 */
int build_accounting_conf(struct arena *a, const struct build_accounting *b, struct str password,
                          struct jsn **ret, bool *ret_cut, struct err *e) MUST_CHECK;

/* StatefulSet <name>-accounting.  The hash is that of slurmdbd.conf: another one starts the pod
 * again. */
struct jsn *build_accounting_app(struct arena *a, const struct build_accounting *b,
                                 const char *conf_hash, struct api_problems *p);
/* Of the Secret as it was built. */
const char *build_accounting_hash(struct arena *a, const struct jsn *secret);

/* The reference to the password of the database: storageConfig's, or that of our own. */
struct api_key_ref build_accounting_password(struct arena *a, const struct accounting *acct);

/* Secret, Service and StatefulSet <name>-database, where storageConfig is left out. */
struct jsn *build_database_secret(struct arena *a, const struct build_accounting *b,
                                  const unsigned char random[ACCOUNTING_PASSWORD_RANDOM]);
struct jsn *build_database_service(struct arena *a, const struct build_accounting *b);
struct jsn *build_database_app(struct arena *a, const struct build_accounting *b);
