/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A container of a pod: one run after the other, each under its own shim. */
#pragma once

#include "src/base/process.h"
#include "src/cluster/node/pods/handler.h"
#include "src/cluster/node/pods/prober.h"
#include "src/cluster/node/pods/status.h"

struct worker;

struct container {
    struct worker *worker;
    size_t index;
    enum ctr_phase phase;
    int attempt; /* the number of the run; -1: none yet */
    char *dir;   /* of the run */
    char id[65];
    struct process_id process; /* its first */
    int64_t started_us;
    struct ctr_end end;  /* strings owned */
    struct ctr_end last; /* strings owned */
    char *waiting_reason;
    char *waiting_message;
    unsigned int failures; /* in a row, for the back-off */
    int64_t retry_ms;
    bool started;
    bool ready;
    bool condemned;
    int64_t condemned_grace_s; /* of the probe that failed; -1: the pod's */

    int watch_fd;
    struct loop_source *watch;
    pid_t shim_pid; /* our child, until it is reaped */
    struct loop_source *shim_child;
    struct handler_run *hook;
    struct loop_source *kill_timer;
    bool told; /* the stop signal was sent */
    int64_t kill_ms;
    struct prober *probers[3];
    struct job *cleanup;
};

void container_init(struct container *c, struct worker *w, size_t index);
/* Lets go of it: what runs stays. */
void container_done(struct container *c);

/* Find the last run on disk and take it over if it still goes on. */
void container_adopt(struct container *c);

/* Begin another run.  ERR_RETRY and ERR_PERMANENT both leave it as it was, with the reason to show
 * in `waiting`. */
int container_start(struct container *c, struct err *e) MUST_CHECK;

/* Ask it to end; kill it at `kill_ms`.  Asked again it only ever gets less time. */
void container_stop(struct container *c, int64_t kill_ms);

/* It runs: its hook and its probes begin. */
void container_care_begin(struct container *c);

/* A new sandbox: what ran before counts as the past. */
void container_reset(struct container *c);

void container_view(const struct container *c, struct ctr_view *ret);
void container_info(const struct container *c, struct ctr_info *ret);
const struct ctr_spec *container_spec(const struct container *c);

/* DIR/logs/NAME/ATTEMPT.log; owned. */
char *container_log_path(const struct container *c, int attempt);

/* Start the shim of the present run; *ret_fd, owned by the caller, is a socket to it. */
int container_spawn_shim(struct container *c, int *ret_fd, struct err *e) MUST_CHECK;
/* Connect to the shim of a run: a socket with `hello` sent, or -1. */
int container_connect(const char *dir, const char *hello);
