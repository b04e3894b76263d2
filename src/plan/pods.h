/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pods as plans see them: small, so that ten thousand of them are cheap to keep. */
#pragma once

#include "src/api/kinds.h"
#include "src/json/jsn.h"
#include "src/plan/slurm_state.h"

#define POD_HASH_LABEL "controller.kubernetes.io/hash"
#define POD_CORDON API_NODESET_PREFIX "pod-cordon"
#define POD_CORDON_OLD API_GROUP "/pod-cordon"
#define POD_DELETION_COST API_NODESET_PREFIX "pod-deletion-cost"
#define POD_DEADLINE API_NODESET_PREFIX "pod-deadline"
/* When the slurmd started whose record was given what this pod's arguments do not say. */
#define POD_REGISTERED API_OWN_GROUP "/registered"

enum pod_phase { POD_PENDING, POD_UNKNOWN, POD_RUNNING, POD_SUCCEEDED, POD_FAILED };

struct plan_pod {
    const char *namespace;
    const char *name;
    const char *uid;
    const char *version;   /* metadata.resourceVersion; NULL: not known */
    const char *owner_uid; /* of what controls it; NULL: nobody */
    const char *owner_name;
    const char *hash;      /* of the revision it was made from; "" if unknown */
    const char *node_name; /* NULL: not placed yet */
    const char *slurm_name;
    const char *instance; /* the object that its labels name */
    const char *ip;       /* of slurmctld's pods alone; NULL: none yet */
    enum api_kind_id of;  /* the kind of that object; a NodeSet if no label tells */
    bool active;          /* the Service leads to it */
    enum pod_phase phase;
    bool off; /* its slurmd is seen not to run: not started yet, or crashed */
    bool ready;
    bool deleting;
    bool cordoned;
    bool protected;
    uint32_t slurm_bits;       /* conditions that tell its Slurm node's state; pod_conditions.c */
    const char *slurm_message; /* of those; NULL: none */
    int32_t cost;
    int64_t ready_us; /* since when it is ready, or is not */
    int64_t created_us;
    int64_t deadline_us;   /* 0: none */
    bool record_checked;   /* when it was made, Slurm had no record of its node, or a fitting one */
    int64_t registered_us; /* POD_REGISTERED; 0: it has none */
    int64_t register_us;   /* when its slurmd was asked to register again; 0: never */
    const char
        *node_drain; /* why its Kubernetes node is to have no jobs; NULL: it may.  Not decoded */
    const char *trouble; /* what keeps it from running, for its owner's condition; NULL: nothing */
};

/* Decode into `a`; nothing points into v. */
void plan_pod_decode(struct arena *a, const struct jsn *v, struct plan_pod *ret);

/* The number at the end of "<set>-007", or -1. */
int64_t plan_pod_ordinal(const struct plan_pod *p, const char *set);

/* Placed, running, ready for at least that long. */
bool plan_pod_is_available(const struct plan_pod *p, int32_t min_ready_seconds, int64_t now_us);

/* Its containers have ended for good. */
bool plan_pod_is_over(const struct plan_pod *p);

/* Its slurmd never ran, or runs no more. */
bool plan_pod_is_empty(const struct plan_pod *p);

/* May it be deleted without harm to any job?  By its phase, or by what Slurm says. */
bool plan_pod_is_free(const struct plan_pod *p, const struct slurm_state *s);

/* Which goes first when there are too many: negative if that is `a`. */
int plan_pod_deletion_order(const struct plan_pod *a, const struct plan_pod *b, const char *set,
                            const struct slurm_state *s, int64_t now_us);

/* A pod that is ready has had the time to register with slurmctld after so long. */
#define PLAN_REGISTERS_WITHIN_US (10 * 1000000LL)
