/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of the Controller plan share; nobody else includes it. */
#pragma once

#include "src/build/controller_config.h"
#include "src/plan/controller.h"
#include "src/plan/key_stage.h"
#include "src/plan/status.h"

/* What is said about a configuration. */
struct config_verdict {
    const struct plan_controller *in;
    const struct build_config *config;
    const struct api_problems *problems;
    bool good; /* it may be used */
};

/* Bring slurmctld's StatefulSet about; a pod that runs is not ended for one that cannot be made. */
void controller_plan_set(struct actions *to, const struct api_lookup *l, struct jsn *set);

/* The conditions ConfigApplied, NodeSetsAccepted and Drifted. */
void controller_judge_config(const struct config_verdict *v, struct status_scribe *s);

/* What is said about the release of Slurm. */
struct upgrade_verdict {
    uint32_t wants; /* what is declared; 0: nothing */
    uint32_t runs;  /* what slurmctld runs; 0: not known */
    bool held;      /* it cannot become the other one, as things are */
    const char *reason;
    const char *why;
};

/* Hold what is declared against what runs. */
void controller_plan_upgrade(const struct plan_controller *in, struct arena *a,
                             struct upgrade_verdict *v);
/* Does slurmctld run another series than the one that is declared? */
bool controller_upgrade_is_on(const struct upgrade_verdict *v);
/* Hold it up if the configuration has a fault for the other release that it has not `now`. */
void controller_upgrade_check_config(const struct plan_controller *in, struct arena *a,
                                     const struct api_problems *now, struct upgrade_verdict *v);
/* The condition SlurmRelease. */
void controller_judge_upgrade(const struct plan_controller *in, const struct upgrade_verdict *v,
                              struct status_scribe *s);

/* What is said about the keys. */
struct keys_verdict {
    bool known;          /* Secret <name>-keys is there, or will be with this plan */
    bool written;        /* by this plan */
    const char *refused; /* why a key that is declared is not used; NULL: it is */
    struct key_state state;
    bool slurmctld_has;  /* what the stage gave it; likewise nodes */
    bool slurmdbd_lacks; /* it runs with less than the stage gave */
    unsigned nodes;
    unsigned nodes_have;
    const char *missing; /* some that have not, by name; NULL or "": none */
    int64_t arrived_us;  /* with auth/slurm: since then every pod can read it; 0: not yet */
};

/* Have Secret <name>-keys follow the keys that are declared. */
void controller_plan_keys(const struct plan_controller *in, struct actions *to,
                          struct keys_verdict *v);
/* The condition KeysCurrent. */
void controller_judge_keys(const struct keys_verdict *v, struct status_scribe *s);
