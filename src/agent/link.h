/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls of libslurm in child processes: sent from the loop, answered on the loop, never waited for.
 */
#pragma once

#include <stdint.h>

#include "src/json/jsn.h"
#include "src/loop/loop.h"

/*
 * libslurm blocks for seconds and ends its process when it does not like a file.  So each lane has
 * a child of its own (slurmkeeper-agent-worker) that may hang or die without anybody else noticing:
 * it is killed and replaced, and the call it had in hand fails.  The calls of a lane are answered
 * in the order in which they were made.
 */
enum link_lane {
    LANE_READ,  /* ping, partitions, nodes, jobs, reservations, conf */
    LANE_WRITE, /* whatever changes something in slurmctld */
    LANE_PARSE, /* parse: needs no slurmctld, and each runs in a process of its own */
    LANE_N,
};

struct link;

struct link_options {
    const char *program;      /* path of slurmkeeper-agent-worker; copied */
    const char *slurm_conf;   /* the live slurm.conf, which the child gives to slurm_init; copied */
    const char *library_path; /* LD_LIBRARY_PATH of the children; NULL: the system's own libslurm */
};

/* Starts no child yet: the first call of a lane does. */
struct link *link_new(struct loop *l, const struct link_options *options);
/* Kills the children.  Calls that are open are dropped: nobody is called back. */
struct link *link_free(struct link *link);
DEFINE_AUTO(struct link, link_free);

/*
 * Called exactly once for each call, never from within link_call.  `answer` is borrowed until
 * return, NULL where the child gave none.  `e` says in a
 * sentence what went wrong, with what the child wrote to its standard error.  May call
 * link_call, must not call link_free.
 *
 *   0            {"ok":true, ...}
 *   -EREMOTEIO   slurmctld refused ("error":{"code":2021,"text":"...","kind":"refused"})
 *   -EHOSTDOWN   slurmctld is not there, or left before it answered (kind "down")
 *   -EACCES      slurmctld does not let us (kind "denied")
 *   -EBUSY       not now, later perhaps (kind "busy"; "code" tells: partition, node or reservation
 * in use, standby, rate limit) -EINVAL      the request makes no sense to the child (kind
 * "invalid"); nothing was sent -ETIMEDOUT   no answer in time: the child was killed and will be
 * replaced.  Whether slurmctld has carried out the call is not known -EPIPE       the child ended
 * during the call (libslurm's exit(1), a crash); likewise not known -ENOEXEC     the child could
 * not be started -EBADMSG     the child answered nonsense and was killed
 */
typedef void (*link_answer_fn)(void *arg, int r, const struct jsn *answer, const struct err *e);

/*
 * Queue a call; `request` is borrowed until return.  The time-out counts from the moment that the
 * call is made, waiting included; a call that was never sent when its time is over fails with
 * -ETIMEDOUT without harm to the child.  0, or -E2BIG where the request is too large or too many
 * wait (then nobody is called back).
 */
int link_call(struct link *link, enum link_lane lane, const struct jsn *request,
              uint64_t timeout_ms, link_answer_fn fn, void *arg) MUST_CHECK;

/*
 * Have the lanes start over with new children: libslurm reads slurm.conf once, so after a change of
 * hosts, ports or authentication the old ones are of no use.  Calls in hand are answered by the old
 * children first.
 */
void link_restart(struct link *link);

/* Figures for the metrics. */
struct link_stats {
    uint64_t calls;    /* answered, whatever the answer */
    uint64_t timeouts; /* children killed for taking too long */
    uint64_t deaths;   /* children that ended by themselves during a call */
    uint64_t starts;   /* children started */
    uint64_t waiting;  /* calls in hand or in the queue now */
};
void link_lane_stats(struct link *link, enum link_lane lane, struct link_stats *ret);

/* What a link does.  Everybody else calls the functions above; a test brings a table of its own,
 * and is what slurmctld and its libslurm would be. */
struct link_ops {
    int (*call)(struct link *link, enum link_lane lane, const struct jsn *request,
                uint64_t timeout_ms, link_answer_fn fn, void *arg);
    void (*restart)(struct link *link);
    void (*stats)(struct link *link, enum link_lane lane, struct link_stats *ret);
    void (*free)(struct link *link);
};

/* The first member of whatever implements one. */
struct link {
    const struct link_ops *ops;
};
