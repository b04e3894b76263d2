/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is known of a running Slurm cluster.  A plan without it (NULL) knows nothing. */
#pragma once

#include "src/base/map.h"
#include "src/json/fields.h"
#include "src/slurm/nodestate.h"

/* What a node is, by its record. */
struct slurm_node_params {
    const char *features; /* that it may have, by commas; NULL: none */
    const char *gres;     /* "gpu:a100:4"; NULL: none */
    const char *topology; /* NULL: none, or the release does not tell */
    int64_t cpus;
    int64_t boards;
    int64_t sockets;
    int64_t cores;   /* of a socket */
    int64_t threads; /* of a core */
    int64_t memory;  /* MiB, as the next two */
    int64_t tmp_disk;
    int64_t mem_spec;
    int64_t core_spec;
    int64_t weight;
};

struct slurm_node {
    const char *name;
    uint32_t state; /* base and flags, as slurm/nodestate.h reads them */
    const char *reason;
    bool jobs_known;
    unsigned jobs;           /* running, suspended or completing on it */
    const uint32_t *job_ids; /* of the first few of them */
    size_t n_job_ids;
    int64_t busy_until_us; /* the latest end of its jobs; 0: none, INT64_MAX: none has a limit */
    const char *comment;
    int64_t started_us;                     /* when its slurmd did; 0: not known */
    const char *reason_user;                /* who wrote the reason; NULL: not known */
    const struct slurm_node_params *params; /* NULL: the agent does not tell */
    const char *release;                    /* of its slurmd, "22.05.8"; NULL: not known */
};

/* A partition as slurmctld has it. */
struct slurm_partition {
    const char *name;
    struct jsn_map config; /* its fields as slurm.conf spells them: "State" is "UP" */
    const char *nodes;     /* host list; NULL or "": none */
    unsigned total_nodes;
    unsigned pending; /* jobs */
    unsigned running;
};

/* A field of a partition that is not as it was declared: somebody used scontrol. */
struct slurm_drift {
    const char *partition;
    const char *field; /* "State" */
    const char *declared;
    const char *live;
};

/* A partition that is no longer declared and cannot go before its jobs have ended. */
struct slurm_waiting {
    const char *partition;
    const uint32_t *jobs; /* their ids, perhaps not all */
    size_t n;
};

/* A fault for which a configuration was refused. */
struct slurm_fault {
    const char *file; /* "slurm.conf"; NULL: not known */
    unsigned line;    /* from 1; 0: not known */
    const char *line_text;
    const char *message;
    const char *key; /* the setting that it is about, "MaxTime"; NULL: not known */
};

/* A change of a node that was asked for and does not show in its state yet. */
struct slurm_asked {
    const char *node;
    const char *action; /* drain, undrain, resume, delete; of an update, its body */
};

/* A partition that slurmctld refuses as declared, while it took the rest. */
struct slurm_refusal {
    const char *partition;
    const char *error; /* in slurmctld's words */
};

/* How the last configuration that was handed to slurmctld fared. */
struct slurm_applied {
    const char *hash;   /* of the files: build_config's; NULL: none was handed over yet */
    const char *result; /* applied, unchanged, pending, refused */
    const char *reason; /* why it is pending or was refused, or NULL */
    bool taken;         /* slurmctld has it, but for what is refused and what waits for jobs */
    bool reverts;       /* it was handed over with the wish to undo drift */
    const char *steps;  /* what was done, for people; NULL: nothing */
    const struct slurm_fault *faults; /* of one that was refused */
    size_t n_faults;
    const struct slurm_refusal *refused; /* of one that is pending for their sake */
    size_t n_refused;
};

/*
 * All that slurmctld has, by name (strcmp); drift by partition and field.  Who fills it in sets
 * `partitions_known` once partitions, drift and waiting have been seen.
 */
struct slurm_state {
    const struct slurm_node *nodes;
    size_t n;
    bool partitions_known;
    const struct slurm_partition *partitions;
    size_t n_partitions;
    const struct slurm_drift *drift;
    size_t n_drift;
    const struct slurm_waiting *waiting;
    size_t n_waiting;
    const struct slurm_asked *asked;
    size_t n_asked;
    struct slurm_applied applied;
    int64_t pushing_us; /* since when configurations have been on their way to it; 0: none is */
    const char *held; /* the slurm.conf that slurmctld has, by the agent's word; NULL: not known */
    const struct map *held_lines; /* its partitions (slurm_lines_read); NULL: look into the text */
    const char *tried; /* the one that was answered last, where slurmctld lacks it; NULL: none */
    bool down;         /* slurmctld does not answer: no nodes or partitions are known */
    const char *key_stage; /* of the keys that slurmctld has: "3-accept"; NULL: not known */
    const char *release;   /* of slurmctld, "22.05.8"; NULL: not known */
    const char *error; /* why it does not answer, in a sentence of the agent's; NULL: not known */
};

/* NULL: it has no such node, or `s` is NULL. */
const struct slurm_node *slurm_state_node(const struct slurm_state *s, const char *name);

/*
 * Is it certain that no job runs on the node, and that none can start?  Only of a node that is
 * drained and has no jobs.  Without a state, or of a node that Slurm does not have: never.
 */
bool slurm_state_is_free(const struct slurm_state *s, const char *name);

/* Does nothing run on it at this moment?  Not knowing is a no. */
bool slurm_state_is_idle(const struct slurm_state *s, const char *name);

/* Was this change of the node asked for already, and its effect is still to be seen? */
bool slurm_state_was_asked(const struct slurm_state *s, const char *node, const char *action);

/* NULL: it has no such partition, or nothing is known. */
const struct slurm_partition *slurm_state_partition(const struct slurm_state *s, const char *name);
/* The fault of a refused configuration that stands in a line that begins with one of these words:
 * "NodeSet=gpu", "PartitionName=gpu".  NULL: none does. */
const struct slurm_fault *slurm_state_fault(const struct slurm_state *s, const char *word,
                                            const char *other_word);
/* Its message, with the setting before it where the message does not name it; in `a`. */
const char *slurm_fault_text(struct arena *a, const struct slurm_fault *f);
/* Is this one of the lines of a slurm.conf?  NULL has none. */
bool slurm_conf_has(const char *conf, const char *line);
/* Read the lines of partitions in a slurm.conf, which may be NULL: texts by name, owned by the map.
 * Of two lines of one name the first one counts. */
void slurm_lines_read(struct map *lines, const char *conf);
/* Does the slurm.conf that slurmctld has have this line of the partition?  Not knowing is a no. */
bool slurm_state_holds(const struct slurm_state *s, const char *partition, const char *line);
/* Why slurmctld refuses the partition, if it was handed this very line; NULL: it does not. */
const char *slurm_state_refusal(const struct slurm_state *s, const char *partition,
                                const char *line);
/* NULL: it waits for nothing. */
const struct slurm_waiting *slurm_state_waiting(const struct slurm_state *s, const char *partition);
