/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The status of a pod as the API shows it, from what is known about its containers; pure. */
#pragma once

#include "src/cluster/node/pods/lifecycle.h"

/* How a container ended. */
struct ctr_end {
    bool set;
    int exit_code;
    int signal;
    const char *reason;
    const char *message; /* or NULL */
    int64_t started_us;
    int64_t finished_us;
    const char *id;
};

/* What is known about a container. */
struct ctr_info {
    enum ctr_phase phase;
    unsigned int restarts;
    bool ready;
    bool started;
    int64_t started_us;         /* of the present run */
    const char *id;             /* of the present or last run; NULL: never made */
    struct ctr_end end;         /* of CTR_DOWN */
    struct ctr_end last;        /* of the run before */
    const char *waiting_reason; /* NULL: not waiting for anything in particular */
    const char *waiting_message;
};

struct pod_info {
    enum pod_outcome outcome;
    bool initialized;
    bool sandbox;
    const char *reason; /* "DeadlineExceeded", "Evicted", "OutOfcpu"; NULL: none */
    const char *message;
    const char *ip; /* NULL: none yet */
    const char *host_ip;
    int64_t start_us;
    int64_t now_us;
};

/* The whole status in `a`; times of conditions that stay as they are come from `old` (or NULL). */
struct jsn *status_build(struct arena *a, const struct pod_spec *p, const struct pod_info *info,
                         const struct ctr_info *ctrs, const struct jsn *old);

#define STATUS_ID_PREFIX "slurmkeeper://"
