/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The one list of settings that are the operator's.
 *
 * extraConf stands last in slurm.conf, and the last line counts: one of these in it would send
 * daemons to where nobody is, or slurmctld away from its jobs (src/api/controller_owned.c).  And
 * slurmctld's saved state, its keys and its pod hang on them, so that the agent lets none of them
 * change, whoever wrote the file (src/agent/bound.c).
 */
#include "src/slurm/owned.h"

#include <stddef.h>

#define FOUND_BY "clients find slurmctld by it"

const struct owned_key owned_keys[] = {
    {"AuthInfo", NULL, NULL, "slurmctld would accept no call any more", "socket="},
    {"AuthType", "auth/munge auth/slurm", "is auth/slurm or auth/munge", "the daemons talk by it"},
    {"BackupAddr", NULL, "is the pod's name", FOUND_BY},
    {"BackupController", NULL, "is the pod's name", FOUND_BY},
    {"ClusterName", NULL, "comes from spec.clusterName", "slurmctld's state is of that cluster"},
    {"ControlAddr", NULL, "is the pod's name", FOUND_BY},
    {"ControlMachine", NULL, "is the pod's name", FOUND_BY},
    {"CredType", NULL, "goes with the cluster's keys", "the daemons talk by it"},
    {"CryptoType", NULL, "goes with the cluster's keys", NULL},
    {"SlurmUser", "slurm", "is the user of the pod", "slurmctld's state belongs to that user"},
    {"SlurmctldAddr", NULL, "is the name of the Service", FOUND_BY},
    {"SlurmctldHost", NULL, "is the pod's name", NULL}, /* one of several must stay: bound.c */
    {"SlurmctldPort", "6817", "is the pod's port", FOUND_BY},
    {"SlurmdPort", "6818", "is the pods' port", "slurmctld finds the nodes by it"},
    {"SlurmdUser", "root", "is the user of the pods", "slurmd runs as that user"},
    {"StateSaveLocation", NULL, "is the pod's volume", "slurmctld's state is there"},
    {NULL},
};
