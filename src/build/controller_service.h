/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The Services in front of slurmctld and slurmd, and the ServiceMonitor. */
#pragma once

#include "src/api/problems.h"
#include "src/build/cluster.h"
#include "src/json/jsn.h"

/* Service <name>-controller: leads to the slurmctld that is active; the user's settings over it. */
struct jsn *build_controller_service(struct arena *a, const struct build_cluster *c);
/* Service <name>-controller-internal: headless, names each slurmctld. */
struct jsn *build_controller_internal(struct arena *a, const struct build_cluster *c);
/* ServiceMonitor <name>-controller; NULL where it should not be. */
struct jsn *build_service_monitor(struct arena *a, const struct build_cluster *c);
