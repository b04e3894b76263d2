/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A call in the child: a request, its answer, and how to say that it failed. */
#pragma once

#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>

#include "src/json/jsn.h"

/* What a child knows for its whole life. */
struct worker {
    const char *conf_path; /* of the live slurm.conf */
    bool ready;            /* slurm_init has been called */
};

/* One call.  `answer` is an object that the call fills; "ok" is put in when it succeeds. */
struct worker_call {
    struct worker *worker;
    const struct jsn *request;
    struct arena *arena;
    struct jsn *answer;
};

/* Each returns 0, or -1 after one of the three functions below has put the error in. */
typedef int (*worker_call_fn)(struct worker_call *c);

/* libslurm said no; `code` is errno as it left it, or what it returned. */
int call_refused(struct worker_call *c, int code, const char *fmt, ...) PRINTF(3, 4);
/* The request cannot be understood, or asks for what this release cannot do. */
int call_invalid(struct worker_call *c, const char *fmt, ...) PRINTF(2, 3);
/* An error of a kind that no code of Slurm's stands for. */
int call_failed(struct worker_call *c, const char *kind, const char *text);

/* A text that must be there, or NULL with the error put in. */
const char *call_need(struct worker_call *c, const char *key);
/* Every text of the request is one line; else the answer says which is not. */
int call_check_texts(struct worker_call *c) MUST_CHECK;
/* A text that may be there, as memory that a message to Slurm may point to; NULL: it is not. */
char *call_text(struct worker_call *c, const char *key);

/* Does the code mean that slurmctld and this libslurm do not understand each other? */
bool call_code_mismatch(int code);
/* "refused", "down", "denied" or "busy": what a code of Slurm's means for who called. */
const char *call_code_kind(int code);

/* A text, or NULL, and a time, or 0, if they say nothing: what a table leaves out. */
const char *call_said(const char *text);
int64_t call_time(time_t when);
/* Text and times only where they say something. */
void call_put_text(struct worker_call *c, struct jsn *object, const char *key, const char *text);
void call_put_time(struct worker_call *c, struct jsn *object, const char *key, time_t when);
/* Into the answer: when slurmctld was started, if it tells (controller.c). */
void call_put_boot_time(struct worker_call *c);

/*
 * The frame of all lists.  Before: the "since" of the request, 0 for all.  After: `unchanged` or
 * the controller's time and the list to fill.
 */
time_t call_since(const struct worker_call *c);
int call_unchanged(struct worker_call *c);
struct jsn *call_items(struct worker_call *c, time_t when);
/* Does the request want this one?  It names some in "only", or wants all. */
bool call_wants(const struct worker_call *c, const char *name);

/* partitions.c */
int call_partitions(struct worker_call *c);
int call_partition_create(struct worker_call *c);
int call_partition_update(struct worker_call *c);
int call_partition_delete(struct worker_call *c);
/* nodes.c, node_update.c */
int call_nodes(struct worker_call *c);
int call_node_update(struct worker_call *c);
int call_node_delete(struct worker_call *c);
/* jobs.c */
int call_jobs(struct worker_call *c);
/* reservations.c */
int call_reservations(struct worker_call *c);
int call_reservation_put(struct worker_call *c);
int call_reservation_delete(struct worker_call *c);
/* controller.c */
int call_ping(struct worker_call *c);
int call_conf(struct worker_call *c);
int call_reconfigure(struct worker_call *c);
int call_shutdown(struct worker_call *c);
int call_under_way(struct worker_call *c);
/* parse.c */
int call_parse(struct worker_call *c);
