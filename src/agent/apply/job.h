/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One request on its way: what the files of the apply machine share; nobody else includes it. */
#pragma once

#include "src/agent/apply/request.h"
#include "src/agent/candidate.h"
#include "src/agent/plan.h"
#include "src/wire/outcome.h"

/* How far slurmctld and the disk have been changed.  Only job_reach assigns it, and only upwards:
 * it decides what has to be undone. */
enum job_reach {
    REACH_NOTHING,
    REACH_RECORD,    /* the record says that it is under way */
    REACH_FILES,     /* live files were written */
    REACH_SLURMCTLD, /* slurmctld was told something */
};

/* What became of slurmctld on the way. */
enum job_fate {
    FATE_SERVES,
    FATE_LOST,  /* it left during a reconfigure */
    FATE_ENDED, /* it was started again, and ended at once */
};

struct job;
typedef void (*job_fn)(struct job *j);
typedef void (*job_live_fn)(struct job *j, int r, const struct err *e);

/* What was found: slurmctld, and what it runs. */
struct job_sight {
    uint32_t release;
    const struct candidate *from; /* what slurmctld runs; the engine's */
    bool live_known;              /* slurmctld has told its partitions */
    bool assumed;                 /* ... to the hub, a while ago: the picture may be old */
    struct live live;             /* those that matter, as they were then */
    job_live_fn then;             /* who waits for them to be read */
    int64_t asked_ns;             /* when they were asked for */
};

/* What is to be: worked out by check and prepare. */
struct job_aim {
    struct candidate *to; /* what slurmctld shall run, with what is kept */
    struct comparison compared;
    struct faults faults;
    enum change_class class;
    const char **leaving; /* partitions of record->kept that are to go; in the report's arena */
    size_t n_leaving;
    bool delete_first; /* the new files cannot hold them */
    bool all;          /* every partition, not only those that change */
    bool certain;      /* Slurm takes what is new in slurm.conf: vouch.c */
};

/* The parser and what is live are asked at the same time. */
struct job_check {
    unsigned open; /* questions that have not been answered yet */
    int r;         /* the first answer that was a failure */
    struct err e;
    char *dir; /* the parser's copy; NULL: none */
};

/* Waiting for slurmctld or its nodes. */
struct job_wait {
    struct loop_source *timer;
    int64_t deadline_ms;
    int64_t boot_before; /* of the slurmctld that is being restarted */
    bool unmarked;       /* its entry point had taken the marker away when it was asked */
    int64_t since_us;    /* what slurmctld says from then on is about this */
    int refused;         /* the answer that its last words are waited for with */
    job_fn then;
};

/* What will be told of it; everything lives in the arena. */
struct job_report {
    struct arena arena;
    int64_t started_ns;
    int64_t step_ns;
    struct wire_step *steps;
    size_t n_steps;
    size_t cap_steps;
    struct wire_problems problems; /* warnings, too */
    bool committed;                /* slurmctld has it, but for what is kept or set aside */
    bool set_aside;                /* a partition that was not aside before */
    enum wire_result result;
    const char *failed_step;
    struct err why;
};

struct job {
    struct list link;      /* in engine->plans, for one that only plans */
    struct engine *engine; /* may be gone when the job is freed */
    const struct rehearse_ops *rehearse;
    struct request *request;
    enum apply_progress progress; /* only job_set_progress assigns it */
    enum job_reach reach;         /* only job_reach */
    enum job_fate fate;
    struct record *record; /* what is declared, with what has to be kept */
    struct job_sight seen;
    struct job_aim aim;
    struct job_check check;
    struct apply_plan plan;
    size_t at; /* the step at hand */
    struct rehearsal *rehearsal;
    struct fileset old_keys;        /* what WANT_KEYS has replaced */
    struct host_set *handed_before; /* nodes that knew the files before these */
    struct job_wait wait;
    struct list asks; /* calls of the link, answered or not */
    struct job_report report;
};

/* job.c */
struct job *job_new(struct engine *g, struct request *r);
struct job *job_free(struct job *j);
void job_set_progress(struct job *j, enum apply_progress progress);
void job_reach(struct job *j, enum job_reach reach);
/* A definite no: what was done is undone, then the answer goes out. */
void job_refuse(struct job *j, const char *step, const struct err *e);
/* Nobody knows, or slurmctld is away: stays pending and is tried again. */
void job_suspend(struct job *j, const char *step, const struct err *e);
void job_finish(struct job *j, enum wire_result result);
void job_warn(struct job *j, const char *fmt, ...) PRINTF(2, 3);
/* A problem in a file of the candidate, which says what the line is about; texts are copied. */
void job_problem(struct job *j, const struct wire_problem *problem);
/* Note a step; without a time if it is only planned. */
void job_step_add(struct job *j, const char *step, const char *what, double ms);
/* Note a step that is over, with its time since report.step_ns. */
void job_step_note(struct job *j, const char *step, const char *what);
static inline bool job_undoes(const struct job *j)
{
    return j->progress == PROGRESS_UNDOING;
}

/* begin.c: from the queue to the steps */
void job_start(struct job *j);

/* ask.c */
typedef void (*ask_fn)(struct job *j, int r, const struct jsn *answer, const struct err *e);
/* As link_call; an answer that comes twice, or after the job is over, is dropped. */
int job_ask(struct job *j, enum link_lane lane, const struct jsn *request, uint64_t timeout_ms,
            ask_fn fn) MUST_CHECK;
void asks_free(struct job *j);

/* check.c, parse.c, meaning.c: before anything is touched */
void check_start(struct job *j);
/* begin.c: the checks are over, and all was well. */
void job_checked(struct job *j);
int meaning_check(struct job *j, struct err *e) MUST_CHECK;
/* What is declared, without what is kept or set aside. */
int declared_of(struct job *j, struct candidate **ret, struct err *e) MUST_CHECK;
/* Work the aim out once more, for the record as it is now. */
int meaning_aim(struct job *j, struct err *e) MUST_CHECK;
int candidate_of(struct engine *g, const struct record *r, uint32_t release, struct candidate **ret,
                 struct err *e) MUST_CHECK;
void leaving_add(struct job *j, const char *name);
/* Have libslurm's parser read the candidate; fn as job_ask's.  1: there is nothing new to read. */
int parse_start(struct job *j, ask_fn fn, struct err *e) MUST_CHECK;
void parse_end(struct job *j);

/* aside.c: partitions that are refused, while the rest goes on */
enum aside_verdict {
    ASIDE_NOT,    /* it is the whole declaration that is refused */
    ASIDE_TAKEN,  /* the job goes on without it, from within */
    ASIDE_BEFORE, /* it was aside already: go on with the next step */
};
enum aside_verdict aside_take(struct job *j, const char *partition, const struct err *why);
/* Do these words of slurmctld's name a partition that changes?  Then it is set aside, and the job
 * goes on from within. */
bool aside_blame(struct job *j, const struct err *why);
/* What was aside before stays so, if the same is asked for. */
int aside_carry(struct job *j, const struct model *declared, struct err *e) MUST_CHECK;
/* What was made of a new partition before it was refused is to go. */
void aside_remove(struct job *j);

/* blame.c: have a refusal of the files as a whole name the changes that its words do not. */
void blame_changes(const struct comparison *c, struct err *why);

/* live_read.c */
bool live_matters(const struct job *j);
/* Take seen.live out of the hub's picture, where that will do: it saves a question. */
bool live_assume(struct job *j);
/* Read seen.live; fn is called with 0, or as the link's answers. */
void live_read(struct job *j, uint64_t timeout_ms, job_live_fn fn);

/* prepare.c */
int prepare_plan(struct job *j, struct err *e) MUST_CHECK;
/* Does the plan that rests on the hub's picture do something for each partition that changes?  If
 * not, the picture may be old. */
bool prepare_covers(const struct job *j);
/* Does slurmctld have to be started again after a reconfigure, for the sake of running jobs? */
bool prepare_recount(const struct job *j);

/* steps.c: the machine */
void steps_start(struct job *j);
/* The step at hand is over; the next one starts from within. */
void step_done(struct job *j);
void step_failed(struct job *j, int r, const struct err *e);
/* The hub's picture, on which the plan rests, is old.  Look, plan again and begin again; once. */
void steps_look_again(struct job *j);
/* The same, after a look. */
void steps_plan_again(struct job *j);
/* Does this answer of the link leave no doubt? */
bool step_is_refusal(int r);
const struct apply_step *step_now(const struct job *j);

/* the steps: rehearsal.c, files.c, calls.c, reconfigure.c, restart.c, read_back.c */
void step_rehearse(struct job *j);
/* Note on disk that it is under way, before anything is changed; once is enough. */
int step_pend(struct job *j, struct err *e) MUST_CHECK;
/* Likewise, for the record has changed. */
int step_pend_again(struct job *j, struct err *e) MUST_CHECK;
void step_write(struct job *j);
void step_settle(struct job *j);
/* The files, and then the keys, as they were. */
void files_back(struct job *j);
void step_call(struct job *j, const char *call, const char *partition,
               const struct conf_pair *pairs, size_t n, uint64_t timeout_ms, ask_fn fn);
void step_partition(struct job *j);
void step_reconfigure(struct job *j);
void step_restart(struct job *j);
void step_read_back(struct job *j);
/* Has slurmctld ended at once, since that time?  *ret is its last words then. */
bool restart_has_ended(const struct engine *g, int64_t since_us, struct err *ret);
/* The files are as they were: have the slurmctld that ended on the others started once more. */
void restart_go_back(struct engine *g);

/* handed.c */
/* A reconfigure was taken: the nodes that slurmctld knows are being told. */
void handed_note(struct engine *g);
void handed_forget(struct engine *g);
/* Other files are written: nobody has been told of them. */
void handed_set_aside(struct job *j);
/* The files are as they were: who knew them still does, unless told of the others meanwhile. */
void handed_back(struct job *j);
/* Go on when they have been. */
void handed_wait(struct job *j, job_fn then);

/* undo.c */
void undo_start(struct job *j);

/* answer.c */
/* Its outcome; lives in `a`, the job's own arena and the job. */
void outcome_of(struct arena *a, const struct job *j, struct wire_outcome *ret);
/* The status of an answer with this outcome. */
int outcome_status(const struct wire_outcome *o);
