/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kind LoginSet: pods that people log in to by ssh, to submit jobs. */
#pragma once

#include "src/api/condition.h"
#include "src/api/lookup.h"
#include "src/api/meta.h"
#include "src/api/problems.h"
#include "src/api/refs.h"
#include "src/api/service.h"

#define LOGIN_PORT 22
/* Annotation: for so many seconds a pod that has to go waits for the sessions in it. */
#define LOGIN_GRACE_ANNOTATION API_OWN_GROUP "/session-grace"
#define LOGIN_GRACE_DEFAULT_S 300
#define LOGIN_GRACE_MAX_S 604800
/* Names of Services are labels. */
#define LOGIN_NAME_MAX 63

enum loginset_strategy { LOGIN_RECREATE, LOGIN_ROLLING_UPDATE };

struct loginset_spec {
    struct api_controller_ref controller_ref;
    int32_t replicas;
    const struct jsn *login;    /* a Container, as written; NULL: none */
    const struct jsn *initconf; /* likewise */
    struct api_template template;
    const char *root_keys;         /* authorized_keys of root; NULL: none */
    const char *extra_sshd_config; /* NULL: none */
    struct api_key_ref sssd_conf_ref;
    const struct jsn *strategy; /* a DeploymentStrategy, as written; NULL: none */
    struct api_service service;
};

struct loginset_status {
    int32_t replicas;
    int32_t ready_replicas;
    int64_t observed_generation;
    struct api_conditions conditions;
    const char *selector;
};

struct loginset {
    struct api_meta meta;
    struct loginset_spec spec;
    struct loginset_status status;
};

extern const struct jsn_field loginset_fields[];
extern const struct jsn_field loginset_status_fields[];

/* Decode into `a`, defaults filled in; nothing points into v.  The error names the field. */
int loginset_decode(struct arena *a, const struct jsn *v, struct loginset *ret,
                    struct err *e) MUST_CHECK;

/* How long a pod waits for its sessions: the annotation, or the default. */
int64_t loginset_grace_s(const struct loginset *l);

/* Everything that the object alone tells. */
void loginset_check(const struct loginset *l, struct api_problems *p);
/* What its annotations say alone. */
void loginset_check_annotations(const struct loginset *l, struct api_problems *p);
/* What may not change. */
void loginset_check_update(const struct loginset *l, const struct loginset *old,
                           struct api_problems *p);
/* What it refers to, which may come later. */
void loginset_check_refs(const struct loginset *l, const struct api_lookup *lookup,
                         struct api_problems *p);
