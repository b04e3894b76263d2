/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The apply engine: takes declarations, one at a time, and makes slurmctld match the newest. */
#pragma once

#include "src/agent/hub.h"
#include "src/agent/metrics.h"
#include "src/agent/rehearse.h"
#include "src/agent/store.h"

struct engine;

/* Where a declaration is.  Each goes down this list; only refused ones are undone. */
enum apply_progress {
    PROGRESS_QUEUED,
    PROGRESS_ASKING,   /* who slurmctld is, and which nodes it has */
    PROGRESS_CHECKING, /* our model, libslurm's parser, what is live */
    PROGRESS_STEPS,    /* the plan's steps, one by one */
    PROGRESS_UNDOING,  /* something was refused: back to what was */
    PROGRESS_OVER,
    PROGRESS_N,
};
const char *progress_name(enum apply_progress p);

struct engine_options {
    struct loop *loop;
    struct link *link;
    struct store *store;
    struct hub *hub;
    struct metrics *metrics;
    const char *slurmctld;               /* program for rehearsals; NULL: there is none */
    const struct rehearse_ops *rehearse; /* NULL: as rehearse.h does */
    const char *marker; /* file that has slurmctld started again after its end; NULL: nobody will */
    /* Told of every move of every declaration; NULL: nobody wants to know. */
    void (*on_progress)(void *arg, enum apply_progress from, enum apply_progress to);
    void *progress_arg;
    const char *proven; /* directory for what outlives the pod; NULL: there is none */
};

/* Everything in the options is borrowed and outlives the engine. */
struct engine *engine_new(const struct engine_options *o);
struct engine *engine_free(struct engine *g);
DEFINE_AUTO(struct engine, engine_free);

/*
 * Take up where the last process stopped: what it left half-done is applied again, or the last good
 * files are put back.  Without any record the live files are the declaration.
 */
int engine_start(struct engine *g, struct err *e) MUST_CHECK;

/*
 * The answer to a push or a plan: HTTP status and JSON, borrowed until return.  Called once, unless
 * the waiter was forgotten, and never from within engine_push.  The waiter is gone then.
 */
typedef void (*engine_answer_fn)(void *arg, int status, const struct jsn *answer);
struct engine_waiter;

/*
 * Apply a declaration, which is taken.  One that waits while another is being applied is replaced
 * by a newer one, and both get the newer one's answer.  fn may be NULL.
 */
struct engine_waiter *engine_push(struct engine *g, struct record *r, engine_answer_fn fn,
                                  void *arg);
/* Does a declaration that somebody pushed wait for the end of the one that is being applied? */
bool engine_has_waiting(const struct engine *g);
/* Tell what a push would do; not queued. */
struct engine_waiter *engine_plan(struct engine *g, struct record *r, engine_answer_fn fn,
                                  void *arg);
/* The answer is not wanted any more; what was asked for goes on. */
void engine_forget(struct engine_waiter *w);

/* Keys that the mount has brought; a change needs slurmctld to start again. */
void engine_keys(struct engine *g, const struct fileset *keys, bool restart);

/* slurmctld is up (again): what waited for it goes on. */
void engine_on_up(struct engine *g);
/* A round of the hub is over: look for drift, and for partitions that can go now. */
void engine_on_round(struct engine *g);

/* The declaration that counts: the one under way, or the last good one; NULL for none. */
const struct record *engine_declared(const struct engine *g);
