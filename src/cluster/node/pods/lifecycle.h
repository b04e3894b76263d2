/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What to do next about a pod: a pure function of what it should be and what is seen of it. */
#pragma once

#include "src/cluster/node/pods/pod_spec.h"

enum ctr_phase {
    CTR_IDLE,     /* never started */
    CTR_STARTING, /* being made */
    CTR_UP,
    CTR_STOPPING, /* told to end */
    CTR_DOWN,     /* ended, or could not be started */
};

/* One container as it is seen. */
struct ctr_view {
    enum ctr_phase phase;
    int exit_code;    /* of CTR_DOWN */
    int64_t retry_ms; /* of CTR_IDLE and CTR_DOWN: not to be started before */
    bool started;     /* of CTR_UP: its hook and its startup probe are through */
    bool condemned;   /* of CTR_UP: a probe or its hook says that it must go */
};

enum pod_outcome { POD_GOES_ON, POD_SUCCEEDED, POD_FAILED };

struct pod_view {
    bool sandbox;             /* its namespaces are there */
    bool volumes;             /* its volumes are there */
    bool initialized;         /* its init containers were through once in this sandbox */
    bool deleting;            /* somebody wants it gone */
    bool expired;             /* its deadline has passed, or it was refused or evicted */
    enum pod_outcome outcome; /* decided earlier: it is never undone */
};

enum pod_act {
    ACT_MAKE_VOLUMES,
    ACT_MAKE_SANDBOX,
    ACT_START,   /* a container */
    ACT_STOP,    /* a container, with grace */
    ACT_RELEASE, /* everything has ended: give up sandbox and volumes */
};

struct pod_action {
    enum pod_act act;
    size_t ctr;
};

#define POD_PLAN_MAX 256

struct pod_plan {
    struct pod_action actions[POD_PLAN_MAX];
    size_t n;
    enum pod_outcome outcome;
    bool initialized; /* init containers are through */
    int64_t wake_ms;  /* look again then; 0: when something changes */
};

/* `ctrs` has an entry for each container of the pod. */
void lifecycle_plan(const struct pod_spec *p, const struct pod_view *v, const struct ctr_view *ctrs,
                    int64_t now_ms, struct pod_plan *ret_plan);

/* Does a container that ended with that code run again? */
bool lifecycle_restarts(const struct pod_spec *p, const struct ctr_spec *s, int exit_code);

/* The delay before a container is started again that has failed `failures` times in a row. */
int64_t lifecycle_backoff_ms(unsigned int failures);
/* A container that ran for so long has no past. */
#define LIFECYCLE_FORGET_MS 600000
