/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Slurm releases: what each has, and which of its bugs to walk around. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "src/base/buf.h"

/*
 * A release as one number that compares: RELEASE(22, 5, 8) is 22.05.8, the same as libslurm's
 * SLURM_VERSION_NUMBER.  SERIES is the first of a series.
 */
#define RELEASE(year, month, micro)                                                                \
    ((uint32_t)(year) << 16 | (uint32_t)(month) << 8 | (uint32_t)(micro))
#define SERIES(year, month) RELEASE(year, month, 0)
#define RELEASE_OLDEST SERIES(22, 5)
#define RELEASE_NEWEST SERIES(26, 5)

/*
 * Find the release in "22.05.8", "slurm-wlm 22.05.8", "slurm-25-05-3-1", an image tag
 * "25.05-rockylinux9" or a whole image reference.  A text that names a series alone gives micro 0:
 * the oldest, with all the series' bugs.  -ENOENT if no release stands there, -EOPNOTSUPP if it is
 * older than 22.05.
 */
int release_parse(struct str text, uint32_t *ret_release, struct err *e) MUST_CHECK;

#define RELEASE_TEXT_LEN 16
/* "22.05.8" */
void release_text(uint32_t release, char ret_text[RELEASE_TEXT_LEN]);
/* "22.05" */
void release_series_text(uint32_t release, char ret_text[RELEASE_TEXT_LEN]);

/* "WHAT needs Slurm 26.05; this cluster runs 24.11": what all say of something that came later. */
void release_needs(const char *what, uint32_t since, uint32_t release, struct buf *out);

/* First releases of all known series, the newest first; ends with 0. */
extern const uint32_t profile_series[];

enum profile_feature {
    PROFILE_CONFIGLESS,          /* SlurmctldParameters=enable_configless, slurmd --conf-server */
    PROFILE_DYNAMIC_NODES,       /* slurmd -Z, MaxNodeCount */
    PROFILE_AUTH_JWT,            /* AuthAltTypes=auth/jwt */
    PROFILE_RATE_LIMIT,          /* SlurmctldParameters=rl_enable */
    PROFILE_RESUME_AFTER,        /* node update with resume_after */
    PROFILE_AUTH_SLURM,          /* auth/slurm, cred/slurm, AuthInfo=use_client_ids, sackd */
    PROFILE_RESTD_PLUGINS,       /* slurmrestd -s openapi/slurmctld, whatever its version */
    PROFILE_AUTH_KEY_SET,        /* slurm.jwks: several keys of auth/slurm */
    PROFILE_SACK_BY_CLUSTER,     /* sackd's socket in /run/slurm-CLUSTER, by RUNTIME_DIRECTORY */
    PROFILE_NODES_EDIT,          /* partition Nodes by + and - in the RPC */
    PROFILE_RECONFIGURE_REFUSES, /* a bad file is refused by reconfigure (in daemon mode) */
    PROFILE_SYSTEMD_FLAG,        /* slurmctld and slurmd --systemd */
    PROFILE_NODE_SET_CHANGES,    /* static nodes may come and go by reconfigure */
    PROFILE_HOST_SUFFIX,         /* n[1-4]-ib */
    PROFILE_CGROUP_DISABLED,     /* CgroupPlugin=disabled */
    PROFILE_PROLOG_REPEATS,      /* Prolog, Epilog and the slurmctld pair may stand several times */
    PROFILE_STEPMGR,             /* SlurmctldParameters=enable_stepmgr */
    PROFILE_PART_FLAGS_32,       /* partition_info_t.flags has 32 bits */
    PROFILE_HOST_FUNCTIONS,      /* {...} in node specifications */
    PROFILE_TOPOLOGY_YAML,       /* topology.yaml, Topology= of nodes and partitions */
    PROFILE_EXTERNAL_NODES,      /* State=EXTERNAL */
    PROFILE_METRICS,             /* MetricsType=metrics/openmetrics */
    PROFILE_HEALTH_HTTP,         /* /livez, /readyz on the daemons' own ports */
    PROFILE_RECONFIG_ON_RESTART, /* SlurmctldParameters=reconfig_on_restart */
    PROFILE_REST_PARTITIONS,     /* partitions by slurmrestd */
    PROFILE_EXCLUSIVE,           /* Exclusive of partitions; ExclusiveTopo means whole nodes */
    PROFILE_POWER_ACTION,        /* PowerAction, SuspendTime of a node */
    PROFILE_N_FEATURES,
};
bool profile_has(uint32_t release, enum profile_feature feature);

/* What is wrong with a release, where it matters to us. */
enum profile_quirk {
    QUIRK_NODESET_ALL,            /* NodeSet with Nodes=ALL does not work */
    QUIRK_PART_CREATE_HALF,       /* create with a bad node fails and leaves an empty partition */
    QUIRK_PART_CREATE_CRASH,      /* create with a bad node kills slurmctld */
    QUIRK_PART_QOS_CRASH,         /* update with an unknown QOS kills slurmctld */
    QUIRK_PART_QOS_ACCEPTED,      /* update takes an unknown QOS silently */
    QUIRK_PART_DELETE_LAST_CRASH, /* deleting the last partition under gang scheduling kills it */
    QUIRK_PART_EXCLUSIVE_FLAGS,   /* ExclusiveUser over ExclusiveTopo sets every flag */
    QUIRK_RECONFIGURE_FRAGILE,    /* crashes and hangs after a refused reconfigure */
    QUIRK_RECONFIGURE_MISCOUNTS,  /* counts the jobs of dynamic nodes twice: allocated for ever */
    QUIRK_DELETE_STATIC_NODE,     /* node delete takes nodes of the file too */
    QUIRK_RESUME_KEEPS_REASON,    /* without accounting, a node that is up again keeps its reason */
    QUIRK_UNDRAIN_UNKNOWN, /* undrain of a never registered node works but returns an error */
    PROFILE_N_QUIRKS,
};
bool profile_quirk(uint32_t release, enum profile_quirk quirk);

/* True if a controller of one release answers a client library of another; it reads the state of
 * the same releases. */
bool profile_client_accepted(uint32_t controller, uint32_t client);
