/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of the Controller plan share; nobody else includes it. */
#pragma once

#include "src/build/controller_config.h"
#include "src/plan/controller.h"
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
