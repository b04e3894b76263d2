/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of the NodeSet plan share; nobody else includes it. */
#pragma once

#include "src/plan/node_compare.h"
#include "src/plan/nodeset.h"
#include "src/plan/status.h"

/* A pod whose node has to be drained before it may go. */
struct nodeset_drain {
    const struct plan_pod *pod;
    const char *why; /* "scale-in", "update" */
    bool replaced;   /* another pod is to take its place */
};

/* Which Slurm its pods are to run. */
struct nodeset_release {
    const char *text; /* what the annotation says, or said; NULL: nothing */
    const char *held; /* why another one that is declared has to wait; NULL: none has */
    bool makes_none;  /* no pod can be made meanwhile */
};
void nodeset_release_of(struct arena *a, const struct plan_nodeset *in,
                        struct nodeset_release *ret);

/* What pods and nodes of a NodeSet should be. */
struct nodeset_view {
    struct nodeset_release release;
    const char *hash;       /* of the revision that pods should have */
    const struct jsn *data; /* of that revision */
    struct node_declared node;
    bool topology;            /* slurmctld takes another topology while a node runs */
    const char *gres_unknown; /* a kind of Gres that slurmctld does not know; NULL: none */
};

/* nodeset_history.c: the revision with this content, found or made; returns its hash. */
const char *nodeset_revision_plan(const struct plan_nodeset *in, const char *data,
                                  struct actions *to);
/* Old revisions that no pod has, beyond those that are to be kept. */
void nodeset_revisions_forget(const struct plan_nodeset *in, const char *hash, struct actions *to);
/* One that was never seen: keep pods that another operator has made of the present spec.  Returns
 * whether something is to be done first. */
bool nodeset_revision_take_over(const struct plan_nodeset *in, struct actions *to);

/* What is to be done about the number of pods. */
struct nodeset_scale {
    uint32_t *create; /* ordinals, rising */
    size_t n_create;
    uint32_t *forget; /* ordinals whose records must go before their pods are made */
    size_t n_forget;
    const struct plan_pod **remove; /* may go at once */
    size_t n_remove;
    size_t first_replaced; /* those from here on go because others take their places */
    struct nodeset_drain *drain;
    size_t n_drain;
    size_t n_waiting;   /* too many, but perhaps at work */
    size_t n_outdated;  /* of another revision, but perhaps at work */
    size_t n_postponed; /* to be created by the next plan */
    size_t n_refused;   /* more than the cluster may have */
};

/* `view` may be NULL: then it is not looked at what pods are. */
struct nodeset_scale nodeset_scale_of(struct arena *a, const struct plan_nodeset *in,
                                      const struct nodeset_view *view);

/* How a pod fits what is declared now. */
enum nodeset_fit {
    NODESET_FITS,     /* it is as declared */
    NODESET_ALIKE,    /* it is, but for settings that its node can be given while it runs */
    NODESET_OUTDATED, /* another has to take its place */
};
enum nodeset_fit nodeset_fit_of(struct arena *a, const struct plan_nodeset *in,
                                const struct nodeset_view *view, const struct plan_pod *p);

/* The record of a pod that is to be made: it is there, does not fit, and may go. */
bool nodeset_record_is_stale(struct arena *a, const struct plan_nodeset *in,
                             const struct nodeset_view *view, const char *node);

/* Has nobody but us and slurmctld laid hands on the record?  Only such a one may be deleted. */
bool nodeset_record_is_ours(const struct slurm_node *n);
/* It is ours, and it is certain that it has no jobs. */
bool nodeset_record_may_go(const struct slurm_node *n);

/* Give nodes what they can be given while they run; records that are in the way are deleted. */
void nodeset_nodes_plan(const struct plan_nodeset *in, const struct nodeset_view *view,
                        const struct nodeset_scale *scale, struct actions *to);
/* What of nodes is not as declared because somebody has changed it; NULL: nothing is. */
const char *nodeset_nodes_drift(struct arena *a, const struct plan_nodeset *in,
                                const struct nodeset_view *view);
/* Does its pod run, and slurmctld, which answers, has no such node? */
bool nodeset_is_unregistered(const struct plan_nodeset *in, const struct plan_pod *p);
/* The same, and it had the time to register. */
bool nodeset_is_lost(const struct plan_nodeset *in, const struct plan_pod *p);
/* Have slurmds of such pods register again. */
void nodeset_lost_plan(const struct plan_nodeset *in, struct actions *to);
/* The condition NodesApplied. */
void nodeset_nodes_judge(const struct plan_nodeset *in, const struct nodeset_view *view,
                         struct status_scribe *s);

/* What stands in the way of acting on the NodeSet. */
struct nodeset_hindrance {
    const char *reason; /* NULL: nothing */
    const char *text;
};

/* Conditions and counters; the write, if anything differs.  `view` is NULL where it cannot be
 * acted on. */
void nodeset_status_plan(const struct plan_nodeset *in, const char *hash,
                         const struct nodeset_view *view, const struct nodeset_scale *scale,
                         const struct nodeset_hindrance *why, struct actions *to);

/* Its partition: is it in slurmctld as this generation declares it, and has somebody changed it? */
void nodeset_partition_judge(const struct plan_nodeset *in, const struct nodeset_view *view,
                             const struct nodeset_hindrance *why, struct status_scribe *s);

/* What concerns pods that are there: keep busy ones from being evicted, show their nodes' state in
 * them, drain what is to go, delete what may. */
void nodeset_pods_plan(const struct plan_nodeset *in, const struct nodeset_scale *scale,
                       struct actions *to);

/* Drain what is to go, let back what may stay; see nodeset_drain.c. */
void nodeset_drain_plan(const struct plan_nodeset *in, const struct nodeset_scale *scale,
                        struct actions *to);

/* Is it draining because of us? */
bool nodeset_drain_is_ours(const struct slurm_node *n);

/* Did we (or Slinky's operator) write the reason of a node, for its pod's sake? */
bool nodeset_reason_is_ours(const char *reason);

/* Have the records of nodes deleted whose pods are gone for good; returns how many. */
size_t nodeset_retire_plan(const struct plan_nodeset *in, const struct nodeset_scale *scale,
                           struct actions *to);

/* A node whose record may be one of those soon: slurmctld does not know yet that nobody is there.
 * NULL: there is none. */
const char *nodeset_retire_later(struct arena *a, const struct plan_nodeset *in);

/* Are there records of nodes without pods that only this revision tells to be ours? */
bool nodeset_form_is_in_use(struct arena *a, const struct plan_nodeset *in,
                            const struct jsn *revision);
/* Is it known that a Kubernetes node which pods are pinned to is not there any more? */
bool nodeset_is_gone(const struct plan_nodeset *in, const char *machine);

/* Claims of pods that are to be made; those of pods that were scaled away, and whose they are. */
void nodeset_claims_plan(const struct plan_nodeset *in, const struct nodeset_scale *scale,
                         struct actions *to);

/* Before pods are replaced: would the API server make the next ones?  See nodeset_successor.c. */
void nodeset_successor_plan(const struct plan_nodeset *in, const struct nodeset_view *view,
                            const struct nodeset_scale *scale, struct actions *to);
/* Mark what was added since `from` for a pod that is replaced. */
void nodeset_guard(struct actions *to, size_t from);

/* What must still be so when a pod is deleted; NULL: its containers have ended for good, somebody
 * wants it gone whatever runs, or nobody can be asked. */
const struct action_hold *nodeset_hold_of(struct arena *a, const struct plan_nodeset *in,
                                          const struct plan_pod *p);
/* Was that asked of slurmctld for this very pod, so that its deletion may be on its way? */
bool nodeset_is_held(struct arena *a, const struct plan_nodeset *in, const struct plan_pod *p);

/* The plan for one that is being deleted. */
void nodeset_end_plan(const struct plan_nodeset *in, struct actions *to);
