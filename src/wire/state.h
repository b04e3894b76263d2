/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the agent says of a running Slurm: the records and the sections of its state. */
#pragma once

#include "src/json/fields.h"

/* A node, as slurmctld tells of it; times are seconds since 1970, 0: not told. */
struct wire_node {
    const char *name;
    const char *state; /* scontrol's words, base first: "IDLE+DRAIN" */
    const char *reason;
    const char *reason_user;
    int64_t reason_time;
    const char *comment;
    const char *extra;
    const char *features;
    const char *active_features;
    const char *gres;
    const char *address;
    const char *hostname;
    const char *version;
    const char *topology;
    const char *instance_id;
    const char *instance_type;
    int64_t boot_time;
    int64_t slurmd_start_time;
    int64_t resume_after;
    int64_t cpus;
    int64_t cpus_allocated;
    int64_t boards;
    int64_t sockets;
    int64_t cores;   /* of a socket */
    int64_t threads; /* of a core; 0: an older agent, which tells of no hardware */
    int64_t memory;  /* MiB */
    int64_t tmp_disk;
    int64_t mem_spec;  /* MiB that jobs do not get */
    int64_t core_spec; /* cores, likewise */
    int64_t weight;
};
extern const struct jsn_field wire_node_fields[];

/* What the agent adds to a node's record. */
struct wire_node_jobs {
    const struct jsn *jobs; /* their ids; NULL: not known */
    int64_t busy_until;     /* the latest end of its jobs; 0: none has one */
};
extern const struct jsn_field wire_node_jobs_fields[];

struct wire_partition {
    const char *name;
    const struct jsn *config; /* key to value, as slurm.conf spells them */
    const char *nodes;        /* host list */
    const char *nodesets;
    int64_t total_nodes;
    int64_t total_cpus;
    const char *tres;
};
extern const struct jsn_field wire_partition_fields[];

/* Jobs by state: of a partition, which the agent adds to its record, and of the cluster. */
struct wire_job_counts {
    uint32_t pending;
    uint32_t running;
};
extern const struct jsn_field wire_job_counts_fields[];

struct wire_reservation {
    const char *name;
    int64_t start_time;
    int64_t end_time;
    struct jsn_strs flags;
    const char *nodes;
    int64_t node_count;
    int64_t core_count;
    const char *users;
    const char *accounts;
    const char *groups;
    const char *partition;
    const char *features;
    const char *licenses;
    const char *burst_buffer;
    const char *tres;
    const char *comment;
    const char *qos;
    const char *allowed_partitions;
};
extern const struct jsn_field wire_reservation_fields[];

/* A field of a partition that is not as declared.  One that is missing, or that nobody declared, is
 * a field PartitionName with one side empty. */
struct wire_drift {
    const char *partition;
    const char *field;
    const char *declared;
    const char *live;
};
extern const struct jsn_field wire_drift_fields[];

/* A partition that is drained and goes after its jobs. */
struct wire_waiting {
    const char *partition;
    const struct jsn *jobs; /* their ids, perhaps not all */
};
extern const struct jsn_field wire_waiting_fields[];

struct wire_controller {
    const char *name;
    const char *mode; /* primary, backup */
    bool up;
    const char *error; /* why it is not up */
};
extern const struct jsn_field wire_controller_fields[];

struct wire_slurmctld {
    bool up;             /* it answers, and all lists are its own */
    const char *release; /* "22.05.8"; "": not known */
    int64_t boot_time;   /* seconds since 1970; 0: not known */
    const struct jsn *controllers;
    const char *error; /* why it cannot be talked to, in a sentence; NULL: nothing is known */
    const char *keys;  /* the stage of a change of keys that it has: "3-accept"; NULL: not known */
};
extern const struct jsn_field wire_slurmctld_fields[];
