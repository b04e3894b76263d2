/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A slurmctld for tests of the apply machine: what it has in memory, and what its files would do.
 */
#pragma once

#include "src/base/buf.h"
#include "src/json/jsn.h"

#define CTLD_MAX 24

struct ctld_partition {
    char name[32];
    char config[1536]; /* JSON: Key -> value */
    bool in_files;     /* its files had it once: they must not lose it while it has jobs */
};

struct ctld_job {
    int id;
    char partition[32];
    char nodes[32];
    bool running;
};

/* What happens when it reads its files the next time. */
enum ctld_mood {
    CTLD_READS,
    CTLD_REFUSES,    /* a reconfigure is refused, and nothing changes */
    CTLD_DIES,       /* it ends over a reconfigure, without an answer */
    CTLD_DIES_TWICE, /* and the next time as well */
    CTLD_WONT_START, /* it ends at once when it is started */
};

/*
 * Lies in memory that survives the process: a test kills the agent and goes on with the same
 * slurmctld.  Plain data for that reason.
 */
struct ctld {
    char live[160];   /* its configuration directory */
    char marker[180]; /* its entry point starts it when this file is there */
    char release[16];
    bool up;
    bool silent;          /* it takes connections, and does not answer the hub */
    bool no_entry_point;  /* nobody starts it again */
    unsigned start_looks; /* how often the entry point looks before it starts it */
    unsigned looked;
    int64_t boot_s;
    enum ctld_mood mood;
    int messages; /* on their way to nodes; one less each time that it is asked */
    struct ctld_partition parts[CTLD_MAX];
    size_t n;
    struct ctld_job jobs[CTLD_MAX];
    size_t n_jobs;
    char dynamic[CTLD_MAX][32]; /* nodes that registered by themselves */
    size_t n_dynamic;
    char no_qos[32];        /* a QOS that it refuses: in a call after the settings before it */
    int64_t slurmd_start_s; /* of every node; 0: not told */

    unsigned starts;
    unsigned reconfigures;
    unsigned pings;
    char harm[256]; /* the first thing that must never happen; "" for none */
    /* kill points: how many were passed, and at which one to die (0: none) */
    unsigned points;
    unsigned kill_at;
};

struct ctld *ctld_new(const char *live, const char *marker);
void ctld_free(struct ctld *c);

/* Start from the files.  Jobs of partitions that are not there any more are lost: harm. */
void ctld_start(struct ctld *c);
/* What its entry point does, asked now and then. */
void ctld_entry_point(struct ctld *c);
/* The nodes and the partition stay; another partition of the site's own by scontrol. */
void ctld_delete_by_hand(struct ctld *c, const char *name);
void ctld_make_by_hand(struct ctld *c, const char *name, const char *nodes);
void ctld_set_by_hand(struct ctld *c, const char *name, const char *key, const char *value);
void ctld_job_add(struct ctld *c, int id, const char *partition, const char *nodes);
void ctld_job_end(struct ctld *c, int id);

const struct ctld_partition *ctld_find(const struct ctld *c, const char *name);
/* "a State=UP b State=DRAIN": the partitions in order, with the value of that key. */
void ctld_print(const struct ctld *c, const char *key, struct buf *out);
const char *ctld_value(struct arena *a, const struct ctld *c, const char *name, const char *key);

/*
 * Carry out a call of the link.  Returns what the link would, and the answer (in `a`).  half: a
 * change of a partition stops after its first setting, and says that all is well.
 */
int ctld_call(struct ctld *c, struct arena *a, const struct jsn *request, bool half,
              struct jsn **ret_answer, struct err *e);

/* Note harm if the files have lost a partition that has jobs: a start would kill them. */
void ctld_look(struct ctld *c);
