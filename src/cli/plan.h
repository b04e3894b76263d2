/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between the files of `slurmkeeper plan`: what is, what would be, and the way between. */
#pragma once

#include "src/build/render.h"
#include "src/local/ask.h"
#include "src/slurm/keys.h"

/* The objects of the API server, and what manifests make of them; all in the arena. */
struct plan_world {
    struct arena *a;
    struct ask *ask;
    const char *only;       /* look at this namespace alone; NULL: at all */
    const char *namespace;  /* of manifests that name none */
    struct render_doc *now; /* as they are */
    size_t n_now;
    struct render_doc *then; /* with the manifests laid over */
    size_t n_then;
    struct jsn *touched; /* namespaces that manifests write to: an object of true */
};

/* plan_live.c: fetch what clusters are made from, and lay the manifests over it. */
int plan_world_read(struct plan_world *w, const struct render_doc *docs, size_t n,
                    struct err *e) MUST_CHECK;
/* The ConfigMap of a cluster, or NULL. */
const struct jsn *plan_world_config(const struct plan_world *w, const char *ns, const char *name);
/*
 * Fill in what the operator was told when it was started, and what its files show: the kind of
 * control groups, and the release if it is not known (0).
 */
void plan_world_fit(const struct plan_world *w, const char *ns, const char *name,
                    struct build_env *env);

/* A change and what it takes. */
struct plan_change {
    enum change_class class;
    const char *text;
    const char *why; /* or NULL */
};

/* What would happen to one cluster.  In an arena. */
struct plan_cluster {
    const char *ns;
    const char *name;
    uint32_t release;
    bool guessed;       /* the release is what the written files fit */
    const char *source; /* "agent", "files" */
    const char *note;   /* why not the agent; NULL: nothing to say */
    bool is_new;        /* there is no configuration of it yet */
    enum change_class class;
    struct plan_change *changes;
    size_t n;
    size_t cap;
    struct jsn *warnings; /* texts */
    struct jsn *drift;    /* texts: what is not as declared, and not on its way */
    bool reverts;         /* it is put back at once */
    const char *refused;  /* why the agent would not take it; NULL: it would */
};

void plan_change_add(struct arena *a, struct plan_cluster *c, enum change_class class,
                     const char *text, const char *why);

/* plan_agent.c: the release that runs there, 0 if it cannot be told; and its answer to a plan. */
struct plan_agent;
int plan_agent_find(struct plan_world *w, const char *ns, const char *name,
                    struct plan_agent **ret_agent, struct err *e) MUST_CHECK;
struct plan_agent *plan_agent_free(struct plan_agent *g);
DEFINE_AUTO(struct plan_agent, plan_agent_free);
/* What it tells of slurmctld now, in `a`; NULL: it does not. */
const struct jsn *plan_agent_state(struct plan_agent *g, struct arena *a);
/* Of such a state. */
uint32_t plan_state_release(const struct jsn *state);
/* Fails if it cannot be asked; that it would refuse is an answer. */
int plan_agent_ask(struct plan_agent *g, struct arena *a, const struct jsn *push,
                   struct plan_cluster *c, struct err *e) MUST_CHECK;

/* plan_diff.c: compare two sets of files ({"slurm.conf": "..."}). */
void plan_diff_files(struct arena *a, const struct jsn *from, const struct jsn *to,
                     struct plan_cluster *c);

/* plan_nodes.c: what becomes of the nodes of its NodeSets. */
void plan_nodes(const struct plan_world *w, struct plan_cluster *c);

/* plan_drift.c: what is not as declared; `state` is the agent's, or NULL. */
void plan_drift(const struct plan_world *w, const struct jsn *state, struct plan_cluster *c);
/* plan_upgrade.c: another Slurm than the one that runs.  `world` is then as if that one was
 * declared: its files go on being made for it. */
void plan_upgrade(struct plan_world *w, struct plan_cluster *c, uint32_t runs);

/* plan_print.c */
void plan_print_text(const struct plan_cluster *list, size_t n, bool colour, struct buf *out);
void plan_print_json(struct arena *a, const struct plan_cluster *list, size_t n, struct buf *out);
