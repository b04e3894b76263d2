/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The StatefulSet that runs slurmctld. */
#pragma once

#include "src/api/problems.h"
#include "src/build/controller_config.h"

/*
 * StatefulSet <name>-controller.  `config_hash` (of build_config) starts the pods again where the
 * Controller does not load changes in place.  Settings that cannot be laid over are problems.  Not
 * for external Controllers.
 */
struct jsn *build_controller_app(struct arena *a, const struct build_cluster *c,
                                 const char *config_hash, struct api_problems *p);
