/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kind Controller: one Slurm cluster's slurmctld, and the configuration of all its daemons. */
#pragma once

#include "src/api/condition.h"
#include "src/api/lookup.h"
#include "src/api/meta.h"
#include "src/api/metrics.h"
#include "src/api/problems.h"
#include "src/api/refs.h"
#include "src/api/service.h"
#include "src/api/template.h"

/* Slurm's own limit. */
#define CONTROLLER_CLUSTER_NAME_MAX 40
/* So that the names of everything made from it stay names: labels have 63 characters. */
#define CONTROLLER_NAME_MAX 41

/* What to do about partitions that somebody changed in Slurm: Report (the default) or Revert. */
#define API_DRIFT_ANNOTATION API_OWN_GROUP "/drift-policy"
/* The image of slurmkeeper-agent, where it is not the one beside the operator's own. */
#define API_AGENT_IMAGE_ANNOTATION API_OWN_GROUP "/agent-image"
/* Of a Controller: for how many seconds the old key is accepted after all sign with the new one. */
#define API_KEY_OVERLAP_ANNOTATION API_OWN_GROUP "/key-overlap"

struct controller_ha {
    bool enabled;
    int32_t backups;
};

/* A claim for slurmctld's state, and whether there is one at all. */
struct controller_persistence {
    bool enabled;
    const char *existing_claim; /* NULL: one is made */
    struct jsn_strs access_modes;
    const struct jsn *resources;
    const char *storage_class;
    const char *volume_name;
    const char *volume_mode;
    const char *attributes_class;
    const struct jsn *selector;
    const struct jsn *data_source;
    const struct jsn *data_source_ref;
};

struct controller_spec {
    const char *cluster_name;
    const struct api_key_ref *slurm_key_ref;
    const struct api_key_ref *jwt_hs256_key_ref;
    const struct api_key_ref *jwt_key_ref;
    const struct api_key_ref *jwks_key_ref;
    const struct api_ref *accounting_ref;
    bool external;
    const struct api_external *external_config;
    struct controller_ha ha;
    const struct jsn *slurmctld;
    const struct jsn *reconfigure;
    const struct jsn *logfile;
    bool inplace_reconfigure;
    struct api_template template;
    const char *extra_conf;
    struct api_refs config_file_refs;
    struct api_refs prolog_refs;
    struct api_refs epilog_refs;
    struct api_refs prolog_slurmctld_refs;
    struct api_refs epilog_slurmctld_refs;
    struct controller_persistence persistence;
    struct api_service service;
    struct api_metrics metrics;
};

struct controller_status {
    int64_t observed_generation;
    struct api_conditions conditions;
};

struct controller {
    struct api_meta meta;
    struct controller_spec spec;
    struct controller_status status;
};

extern const struct jsn_field controller_fields[];
extern const struct jsn_field controller_status_fields[];
/* The members of a PersistentVolumeClaimSpec, of struct controller_persistence. */
extern const struct jsn_field *const controller_claim_fields;

/* Decode into `a`; nothing points into v.  The error names the field. */
int controller_decode(struct arena *a, const struct jsn *v, struct controller *ret,
                      struct err *e) MUST_CHECK;

/* The names that follow from it; in `a` where they are made. */
const char *controller_cluster_name(struct arena *a, const struct controller *c);
struct api_key_ref controller_slurm_key(struct arena *a, const struct controller *c);
struct api_key_ref controller_jwt_key(struct arena *a, const struct controller *c);
/* Whether the operator makes that Secret, since no reference names one. */
bool controller_makes_slurm_key(const struct controller *c);
bool controller_makes_jwt_key(const struct controller *c);

/* How many slurmctld there are: one, and the backups. */
int32_t controller_replicas(const struct controller *c);

/* What the annotation slurmkeeper.dev/slurm-version says, if it is a release; NULL: nothing. */
const char *controller_release_said(const struct controller *c, uint32_t *ret_release);
/* The Slurm release that the annotation or the image's tag names; 0 if neither does. */
uint32_t controller_release(const struct controller *c);

/* The lists of ConfigMaps by field name, for whoever handles all five alike. */
struct controller_ref_list {
    const char *field;  /* "configFileRefs" */
    const char *option; /* "Prolog": the key in slurm.conf; NULL for configuration files */
    const struct api_refs *refs;
};
#define CONTROLLER_REF_LISTS 5
void controller_ref_lists(const struct controller *c,
                          struct controller_ref_list ret_lists[CONTROLLER_REF_LISTS]);

/* Everything that the object alone tells, of a cluster of this release; 0: none is known. */
void controller_check(const struct controller *c, uint32_t release, struct api_problems *p);
/* The part of it that concerns annotations. */
void controller_check_annotations(const struct controller *c, struct api_problems *p);
/*
 * Why a setting of slurm.conf is not the user's; NULL: it may be set.  The
 * sentence lives in the arena.
 */
const char *controller_owned(struct arena *a, const char *key, const char *value);
/* The value that extraConf itself gives a setting of slurm.conf, in the arena; NULL: none. */
const char *controller_extra(struct arena *a, const struct controller *c, const char *key);
/* Does it turn the HTTP of Slurm's daemons off? */
bool controller_disables_http(const struct controller *c);
/* By what the daemons know each other, as extraConf declares it. */
enum controller_auth {
    CONTROLLER_AUTH_DEFAULT, /* nothing is said: auth/slurm where the release has it */
    CONTROLLER_AUTH_MUNGE,
    CONTROLLER_AUTH_SLURM,
};
enum controller_auth controller_auth(const struct controller *c);
/* Does the Secret hold several keys (slurm.jwks), and not one (slurm.key)? */
bool controller_has_key_set(const struct controller *c);
/* What may not change. */
void controller_check_update(const struct controller *c, const struct controller *old,
                             struct api_problems *p);
/* What depends on other objects: references, contents of ConfigMaps, the claim of HA. */
void controller_check_refs(const struct controller *c, const struct api_lookup *l,
                           struct api_problems *p);
