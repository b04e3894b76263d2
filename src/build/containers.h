/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parts of pods that slurmctld's and slurmd's have in common. */
#pragma once

#include "src/build/cluster.h"
#include "src/build/tree.h"

/*
 * The sidecar that shows the log file of a daemon ("slurmctld"), with the user's settings over it.
 * `image` is what it runs in unless those name another one.
 */
struct jsn *container_logfile(struct arena *a, const struct build_cluster *c, const char *daemon,
                              const char *image, const struct jsn *user, struct api_problems *p);

/*
 * A probe of a daemon.  Slurm from 25.11 on answers HTTP on its own port; before that `command` (a
 * JSON array) is run.  `failures` in a row count; a starting daemon is asked every second where
 * asking is ours to time.
 */
enum container_probe { PROBE_STARTUP, PROBE_READY, PROBE_LIVE };
struct jsn *container_probe(struct arena *a, const struct build_cluster *c,
                            enum container_probe which, const char *path, const char *port,
                            const char *command);

/* Put sidecars where the Kubernetes release keeps them: init containers that stay, after those
 * that are there, or others. */
void container_add_sidecars(struct arena *a, const struct build_cluster *c, struct jsn *pod_spec,
                            const struct jsn *sidecars);

/* A projected source: keys of a Secret or ConfigMap ("secret", "configMap") as files. */
struct jsn *volume_key_source(struct arena *a, const char *kind, const struct api_key_ref *ref,
                              const char *path);
/* A whole ConfigMap. */
struct jsn *volume_map_source(struct arena *a, const char *name);
/* A file of Secret <name>-keys (live_keys.h). */
void volume_add_live(struct arena *a, const struct build_cluster *c, const char *file,
                     bool optional, struct jsn *sources);
/* The files of the daemons' common key. */
void volume_add_auth(struct arena *a, const struct build_cluster *c, struct jsn *sources);
