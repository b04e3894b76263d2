/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of the engine share; nobody else includes it. */
#pragma once

#include "src/agent/candidate.h"
#include "src/agent/engine.h"
#include "src/agent/plan.h"
#include "src/agent/rehearse.h"
#include "src/base/list.h"

/* Where a job is.  Only job_set_phase assigns it. */
enum apply_phase {
    APPLY_WAITING,  /* in the queue */
    APPLY_CHECKING, /* our model, libslurm's parser, what is live */
    APPLY_STEPS,    /* the plan's steps, one by one */
    APPLY_UNDO,     /* something was refused: back to what was */
    APPLY_OVER,
};

enum apply_result {
    RESULT_APPLIED,
    RESULT_UNCHANGED,
    RESULT_PENDING,
    RESULT_PLAN,
    RESULT_REFUSED,
};

struct engine_waiter {
    struct list link; /* in job->waiters */
    engine_answer_fn fn;
    void *arg;
};

/* One declaration on its way. */
struct job {
    struct engine *engine;
    enum apply_phase phase;
    struct record *record; /* with what has to be kept */
    struct list waiters;
    bool plan_only;
    bool own;            /* the engine's: settles what is kept, tries again, puts drift back */
    bool reassert;       /* every partition, not only those that change */
    bool remove_foreign; /* partitions that are not declared and have no jobs, too */
    bool restart_for_keys;
    bool tell_nodes; /* nothing has changed, but nodes may not know it yet */
    bool try_out;    /* nothing has changed, but slurmctld does not start: would another? */

    uint32_t release;
    struct candidate *from; /* what slurmctld runs */
    struct candidate *to;   /* what it shall, with what is kept */
    struct comparison compared;
    struct faults faults;
    const char **leaving; /* partitions of record->kept that are to go; in arena */
    size_t n_leaving;
    bool delete_first;
    enum change_class class;
    bool live_known;  /* slurmctld has told its partitions */
    struct live live; /* those that matter, as they were then */

    unsigned checks; /* that have not answered yet */
    int check_r;     /* the first that failed */
    struct err check_e;

    struct apply_plan plan;
    size_t at;
    int64_t started_ns;
    int64_t step_ns;
    bool pended;             /* the record says that it is under way */
    bool written;            /* live files were */
    bool told;               /* slurmctld was */
    bool start_failed;       /* it was started anew, and ended at once */
    struct fileset old_keys; /* what restart_for_keys has replaced */
    bool lost;               /* it left during a reconfigure */
    struct rehearsal *rehearsal;
    int64_t boot_before; /* of the slurmctld that is being restarted */
    int64_t deadline_ms;
    struct loop_source *timer;
    void (*handed_then)(struct job *j);

    struct arena arena; /* of what follows */
    struct jsn *steps;
    struct jsn *warnings;
    struct jsn *problems;
    enum apply_result result;
    const char *failed_step;
    struct err why;
};

struct engine {
    struct engine_options o;
    struct candidate *running; /* what slurmctld runs, as far as is known; NULL: not known */
    struct job *current;
    struct job *next;
    struct loop_source *retry;
    unsigned failures; /* in a row, for the back-off */
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

    /* of the last answer */
    enum apply_result result;
    enum change_class class;
    char *reason;
    int64_t applied_us;
    char *hash; /* of what the answer was about */
    int64_t generation;
    int64_t settled_ns;  /* when the last job ended: older answers of slurmctld say nothing */
    uint64_t drift_seen; /* generation of the live partitions that was looked at */
};

/* apply.c */
struct job *job_new(struct engine *g, struct record *r);
struct job *job_free(struct job *j);
void job_start(struct job *j);
void job_set_phase(struct job *j, enum apply_phase phase);
/* A definite no: what was done is undone, then the answer goes out. */
void job_refuse(struct job *j, const char *step, const struct err *e);
/* Nobody knows, or slurmctld is away: stays pending and is tried again. */
void job_suspend(struct job *j, const char *step, const struct err *e);
void job_finish(struct job *j, enum apply_result result);
void job_warn(struct job *j, const char *fmt, ...) PRINTF(2, 3);
/* Note a step that is over, with its time since job->step_ns. */
void job_step_note(struct job *j, const char *step, const char *what);

/* apply_check.c */
void check_start(struct job *j, void (*then)(struct job *j));
int candidate_of(struct engine *g, const struct record *r, uint32_t release, struct candidate **ret,
                 struct err *e) MUST_CHECK;

/* apply_live.c */
bool live_matters(const struct job *j);
/* Read j->live; fn is called with 0, or as the link's answers. */
void live_read(struct job *j, uint64_t timeout_ms, hub_fresh_fn fn, void *arg);

/* apply_prepare.c */
int prepare_plan(struct job *j, struct err *e) MUST_CHECK;
/* Does slurmctld have to be started anew behind a reconfigure, for the sake of running jobs? */
bool prepare_recount(const struct job *j);

/* apply_steps.c: the machine */
void steps_start(struct job *j);
/* The step at hand is over; the next one starts from within. */
void step_done(struct job *j);
void step_failed(struct job *j, int r, const struct err *e);
/* Does this answer of the link leave no doubt? */
bool step_is_refusal(int r);
/* Note on disk that it is under way, before anything is changed. */
int step_pend(struct job *j, struct err *e) MUST_CHECK;
/* apply_calls.c, apply_restart.c, apply_read_back.c: the steps */
void step_call(struct job *j, const char *call, const char *partition,
               const struct conf_pair *pairs, size_t n, uint64_t timeout_ms, link_answer_fn fn);
void step_partition(struct job *j, const struct apply_step *s);
void step_reconfigure(struct job *j);
void step_restart(struct job *j);
/* Has slurmctld ended at once, since that time?  *ret is its last words then. */
bool restart_has_ended(const struct engine *g, int64_t since_us, struct err *ret);
/* The files are as they were: have the slurmctld that ended on the others started once more. */
void restart_go_back(struct engine *g);
void step_read_back(struct job *j);
/* apply_handed.c */
/* A reconfigure was taken: the nodes that slurmctld knows are being told. */
void handed_note(struct engine *g);
/* Other files are written: nobody has been told of them. */
void handed_forget(struct engine *g);
/* Go on when they have been. */
void handed_wait(struct job *j, void (*then)(struct job *j));
/* apply_undo.c */
void undo_start(struct job *j);

/* apply_answer.c */
struct jsn *answer_make(struct arena *a, struct job *j, int *ret_status);
void answer_waiting(struct arena *a, const struct engine *g, const struct record *r,
                    struct jsn *into);

/* engine.c */
void engine_job_over(struct engine *g, struct job *j);
void engine_publish(struct engine *g);
/* Work out what slurmctld runs: the last good set, or the pending one if it has started since. */
void engine_running_find(struct engine *g);
/* Have what runs read as the release at hand does. */
void engine_running_refresh(struct engine *g);
/* Try again what is left to do, after a pause that grows. */
void engine_retry_later(struct engine *g);
/* If slurmctld has ended on what is under way while nobody waited for it: refuse that, and go back
 * to the last good files.  Returns whether it was so. */
bool engine_give_up(struct engine *g);
/* Put every partition back to what is declared. */
void engine_revert(struct engine *g);

/* engine_proof.c */
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
