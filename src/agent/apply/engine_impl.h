/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of the engine share; nobody else includes it. */
#pragma once

#include "src/agent/apply/job.h"

struct engine {
    struct engine_options o;
    struct candidate *running; /* what slurmctld runs, as far as is known; NULL: not known */
    struct job *current;
    struct request *next;
    struct loop_source *retry;
    unsigned failures;         /* in a row, for the back-off */
    struct loop_source *aside; /* armed while partitions are set aside */
    unsigned aside_tries;      /* how often they were tried again */
    struct loop_source *sync;  /* armed while something was written lazily */
    struct fileset keys;
    bool keys_changed;
    bool fresh;                      /* nodes may come that have other files than slurmctld */
    struct host_set *handed_to;      /* nodes that were told of the files; NULL: none */
    int64_t handed_ms;               /* the last reconfigure, if nodes may not know of it; or 0 */
    bool seen_up;                    /* slurmctld has answered since this process started */
    struct loop_source *proof;       /* armed while there is something to be saved */
    int64_t proven_us;               /* record->written_us of what was saved last */
    bool reassert_wanted;            /* an undo did not get through */
    char deadly[SHA256_HEX_LEN + 1]; /* slurmctld left during a reconfigure with it */
    struct list plans;               /* jobs that only plan, beside the queue */
    struct wire_outcome last;        /* what was answered last, or is known since the start */
    struct arena last_arena;
    int64_t unsure_ns;   /* what the hub was told before is not to be relied on */
    int64_t settled_ns;  /* when the last job ended: older answers of slurmctld say nothing */
    uint64_t drift_seen; /* generation of the live partitions that was looked at */
    const char **held;   /* partitions of others that drift found, with jobs at that time */
    size_t n_held;
    struct arena held_arena;
};

/* engine.c */
void engine_job_over(struct engine *g, struct job *j);
/* One that no job has: of what the last process left, say. */
void engine_last_note(struct engine *g, enum wire_result result, enum change_class class,
                      const char *why, const struct record *r, int64_t when_us);
/* Queue a request of the engine's own; false: it gives way to what is there. */
bool engine_own(struct engine *g, const struct record *r, unsigned wants);

/* own.c */
void engine_on_retry(void *arg);
/* Try again what is left to do, after a pause that grows. */
void engine_retry_later(struct engine *g);
/* Try what is set aside again, if there is any, after a pause that grows; `fresh`: from the
 * shortest one on. */
void engine_aside_later(struct engine *g, bool fresh);
void engine_on_aside(void *arg);
/* Put every partition back to what is declared. */
void engine_revert(struct engine *g);

/* running.c */
/* Work out what slurmctld runs: the last good set, or the pending one if it has started since. */
void engine_running_find(struct engine *g);
/* Have what runs read as the release at hand does. */
void engine_running_refresh(struct engine *g);

/* start.c */
/* If slurmctld has ended on what is under way while nobody waited for it: refuse that, and go back
 * to the last good files.  Returns whether it was so. */
bool engine_give_up(struct engine *g);

/* aside.c */
/* slurmctld has ended on what is under way: if its words name a partition that changes, the record
 * has that one set aside now, and its files are to be written.  False: it is all of it. */
bool aside_pending(struct engine *g, const struct err *why);

/* answer.c */
void engine_publish(struct engine *g);

/* proof.c */
void proof_start(struct engine *g);
void proof_stop(struct engine *g); /* saves what is left to be saved */
/* slurmctld answers; the first time that shows that it has started from the live files. */
void proof_on_up(struct engine *g);
/* It has taken a declaration. */
void proof_on_applied(struct engine *g, enum change_class class);
/* It serves, and nothing is under way: what it serves with is worth keeping. */
void proof_on_round(struct engine *g);

/* drift.c */
void drift_look(struct engine *g);
