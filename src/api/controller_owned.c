/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Settings that are the operator's: who slurmctld is, where its pod keeps its state, with which
 * keys and users the daemons talk.
 *
 * extraConf stands last in slurm.conf, and the last line counts: one of these in it would send
 * daemons to where nobody is, or slurmctld away from its jobs.  To say once more what is so anyway
 * does no harm.
 */
#include <strings.h>

#include "src/api/controller.h"

static const struct {
    const char *key;
    const char *fixed; /* values that it may have in every cluster; NULL: each has its own */
    const char *what;
} owned[] = {
    {"AuthType", "auth/munge auth/slurm", "is auth/slurm or auth/munge"}, /* controller_auth.c */
    {"BackupAddr", NULL, "is the pod's name"},
    {"BackupController", NULL, "is the pod's name"},
    {"ClusterName", NULL, "comes from spec.clusterName"},
    {"ControlAddr", NULL, "is the pod's name"},
    {"ControlMachine", NULL, "is the pod's name"},
    {"CredType", NULL, "goes with the cluster's keys"},
    {"CryptoType", NULL, "goes with the cluster's keys"},
    {"SlurmUser", "slurm", "is the user of the pod"},
    {"SlurmctldAddr", NULL, "is the name of the Service"},
    {"SlurmctldHost", NULL, "is the pod's name"},
    {"SlurmctldPort", "6817", "is the pod's port"},
    {"SlurmdPort", "6818", "is the pods' port"},
    {"SlurmdUser", "root", "is the user of the pods"},
    {"StateSaveLocation", NULL, "is the pod's volume"},
};

static bool is_among(const char *list, const char *value)
{
    struct str rest = str_of(list);
    struct str word;

    while (str_split(&rest, ' ', &word))
        if (str_eq_nocase(word, str_of(value)))
            return true;
    return false;
}

const char *controller_owned(struct arena *a, const char *key, const char *value)
{
    for (size_t i = 0; i < ARRAY_LEN(owned); i++) {
        if (strcasecmp(owned[i].key, key) != 0)
            continue;
        if (owned[i].fixed && is_among(owned[i].fixed, value))
            return NULL;
        if (owned[i].fixed && strchr(owned[i].fixed, ' '))
            return arena_printf(a, "%s %s and cannot be set to %s; remove the line", owned[i].key,
                                owned[i].what, value);
        return arena_printf(a, "%s %s and cannot be set; remove the line", owned[i].key,
                            owned[i].what);
    }
    return NULL;
}
