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

/* The conditions ConfigApplied, NodeSetsAccepted and Drifted. */
void controller_judge_config(const struct config_verdict *v, struct status_scribe *s);

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
};

/* Have Secret <name>-keys follow the keys that are declared. */
void controller_plan_keys(const struct plan_controller *in, struct actions *to,
                          struct keys_verdict *v);
/* The condition KeysCurrent. */
void controller_judge_keys(const struct keys_verdict *v, struct status_scribe *s);
