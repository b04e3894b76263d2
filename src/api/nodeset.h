/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kind NodeSet: alike compute nodes, as pods that run slurmd, and perhaps their partition. */
#pragma once

#include "src/api/condition.h"
#include "src/api/lookup.h"
#include "src/api/meta.h"
#include "src/api/problems.h"
#include "src/api/refs.h"
#include "src/api/template.h"

#define NODESET_PADDING_MAX 9
/* Names of hosts have at most this many characters. */
#define NODESET_HOSTNAME_MAX 63

enum nodeset_scaling { NODESET_DAEMONSET, NODESET_STATEFULSET };
enum nodeset_update { NODESET_ROLLING_UPDATE, NODESET_ON_DELETE, NODESET_SCHEDULED_UPDATE };
enum nodeset_retention { NODESET_RETAIN, NODESET_DELETE };
enum nodeset_prune { NODESET_PRUNE_NEVER, NODESET_PRUNE_NODE_NOT_FOUND };

struct nodeset_ssh {
    bool enabled;
    const char *extra_sshd_config;
    struct api_key_ref sssd_conf_ref;
};

struct nodeset_partition {
    bool enabled;
    const char *config; /* NULL: none */
};

struct nodeset_scheduled {
    int64_t start_us;
    int64_t duration_ms;
    struct jsn_strs flags;
};

struct nodeset_strategy {
    int type; /* enum nodeset_update */
    struct jsn_int_or_str max_unavailable;
    const struct nodeset_scheduled *scheduled; /* NULL: none */
};

struct nodeset_claim_policy {
    int when_deleted; /* enum nodeset_retention */
    int when_scaled;
};

/* A PersistentVolumeClaim for each pod. */
struct nodeset_claim_template {
    const char *api_version;
    const char *kind;
    const struct jsn *metadata;
    const struct jsn *spec;
    const struct jsn *status;
};

struct nodeset_claim_templates {
    struct nodeset_claim_template *items;
    size_t n;
};

struct nodeset_spec {
    struct api_controller_ref controller_ref;
    int32_t replicas;
    int scaling_mode; /* enum nodeset_scaling */
    const struct jsn *slurmd;
    const struct nodeset_ssh *ssh; /* NULL: none */
    const struct jsn *logfile;
    struct api_template template;
    const char *extra_conf;
    const struct nodeset_partition *partition; /* NULL: none */
    struct nodeset_claim_templates claim_templates;
    struct nodeset_strategy update_strategy;
    int32_t revision_history_limit;
    struct nodeset_claim_policy claim_policy;
    int32_t min_ready_seconds;
    uint32_t ordinal_padding;
    bool pin_to_node;
    bool disruption_protection;
    int prune_records; /* enum nodeset_prune */
    bool oversubscribe_node;
};

struct nodeset_status {
    int32_t replicas;
    int32_t updated_replicas;
    int32_t ready_replicas;
    int32_t available_replicas;
    int32_t unavailable_replicas;
    int32_t desired;
    int32_t slurm_idle;
    int32_t slurm_allocated;
    int32_t slurm_down;
    int32_t slurm_drain;
    int64_t observed_generation;
    const char *hash; /* of the revision that pods are brought to */
    const int32_t *collision_count;
    struct api_conditions conditions;
    struct jsn_map ordinal_to_node;
    const char *selector;
};

struct nodeset {
    struct api_meta meta;
    struct nodeset_spec spec;
    struct nodeset_status status;
};

extern const struct jsn_field nodeset_fields[];

/* Decode into `a`; nothing points into v.  The error names the field. */
int nodeset_decode(struct arena *a, const struct jsn *v, struct nodeset *ret,
                   struct err *e) MUST_CHECK;

/* As much of it as the configuration of its cluster is made from, copied to `a`; nothing else is
 * set. */
void nodeset_brief(struct arena *a, const struct nodeset *ns, struct nodeset *ret);

/* The status as an object, for a write to the status subresource. */
struct jsn *nodeset_status_encode(struct arena *a, const struct nodeset_status *status);

/*
 * What Slurm calls it: NodeSet, Feature and partition.  The first word of template.spec.hostname
 * without dashes at its ends, or else the object's name.  In `a`.
 */
const char *nodeset_slurm_name(struct arena *a, const struct nodeset *ns);

bool nodeset_has_partition(const struct nodeset *ns);
/* Settings after "PartitionName=x Nodes=x", "" if there are none. */
const char *nodeset_partition_config(const struct nodeset *ns);
/* Its line in slurm.conf; it has to have one. */
const char *nodeset_partition_line(struct arena *a, const struct nodeset *ns);

/* How many pods may be away at once, of that many: a number, or a share rounded up; at least 1. */
int32_t nodeset_max_unavailable(const struct nodeset *ns, int32_t of);

/* Everything that the object alone tells.  `release` 0: any release may run it. */
void nodeset_check(const struct nodeset *ns, uint32_t release, struct api_problems *p);
/* What may not change. */
void nodeset_check_update(const struct nodeset *ns, const struct nodeset *old,
                          struct api_problems *p);
/* What depends on other objects: references, and a name in Slurm that is taken. */
void nodeset_check_refs(const struct nodeset *ns, const struct api_lookup *l,
                        struct api_problems *p);

/*
 * Check pairs "K=V K=V" as slurmd --conf takes them: node keys that the release has, good values.
 * Fails with the first fault.
 */
int nodeset_conf_check(struct str text, uint32_t release, struct err *e) MUST_CHECK;
