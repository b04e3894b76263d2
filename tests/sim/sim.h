/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A simulated cluster in simulated time: real plans, queue and executor over models of the rest. */
#pragma once

#include "src/api/lookup.h"
#include "src/operator/agent_asked.h"
#include "src/operator/executor.h"
#include "src/operator/queue.h"
#include "src/plan/nodeset.h"

#define SIM_NODES 8 /* machines, and so the most replicas that a user asks for */
#define SIM_OPERATORS 2
#define SIM_JOBS 32
#define SIM_CALLS 128
#define SIM_SET "gpu"
#define SIM_NAMESPACE "slurm"
#define SIM_CONTROLLER "lab"

/* --- chance ---
 *
 * Each step has a sequence of its own, made from the seed and the number of the step: so a step
 * that is left out changes no other, and a story can be made shorter. */
struct chance {
    uint64_t state;
};
uint64_t chance_next(struct chance *c);
/* 0 .. n-1 */
unsigned chance_below(struct chance *c, unsigned n);
/* True once in n times. */
bool chance_one_in(struct chance *c, unsigned n);

/* --- the API server --- */

/* An object as it was at some time; never changed. */
struct rev {
    unsigned refs;
    struct arena arena;
    struct jsn *v;
    const char *kind;
    const char *name;
    struct plan_pod pod; /* if it is one */
};

/* What watches bring, in order. */
struct change {
    char kind[24];
    char name[64];
    struct rev *rev; /* NULL: it is gone */
};

/* Objects by kind and name: the server's own, or an operator's cache. */
struct shelf_of_revs {
    struct rev **items;
    size_t n;
    size_t cap;
};
struct rev *revs_find(const struct shelf_of_revs *s, const char *kind, const char *name);
void revs_put(struct shelf_of_revs *s, const char *kind, const char *name, struct rev *rev);
void revs_done(struct shelf_of_revs *s);

struct api {
    struct shelf_of_revs objects;
    struct change *log;
    size_t n_log;
    size_t cap_log;
    uint64_t log_base; /* the number of log[0] */
    uint64_t versions;
    unsigned uids;
};

/* --- Slurm --- */

struct sim_job {
    unsigned id;    /* 0: none */
    unsigned nodes; /* a bit for each */
    int64_t end_ms;
};

struct sim_node {
    bool exists;
    bool down;
    bool drained;
    bool silent;   /* its slurmd does not answer */
    bool by_admin; /* somebody else has written the reason */
    /* An admin let go of a drain that was ours: what then happens to jobs is not ours. */
    int64_t risk_until_ms;
    char reason[160];
};

struct sim_slurm {
    struct sim_node nodes[SIM_NODES];
    struct sim_job jobs[SIM_JOBS];
    unsigned last_job;
    unsigned finished;
    unsigned lost_to_accidents;
    bool down;
    int64_t agent_slow_until_ms; /* changes of nodes wait */
};

/* What an agent's answer says, on its way to an operator. */
struct sim_view {
    struct arena arena;
    struct slurm_state state;
    int64_t taken_ms;
    bool full;
};

/* --- pods as they really are --- */

enum sim_life { POD_NEW, POD_PLACED, POD_STARTED, POD_REGISTERED_UP, POD_OVER };

struct sim_pod {
    char uid[24]; /* "": there is none in this place */
    enum sim_life life;
    bool deleting;
    bool ours; /* the operator has deleted it */
};

/* --- calls under way --- */

enum sim_call_kind { CALL_NONE, CALL_API, CALL_AGENT };

struct sim_call {
    enum sim_call_kind kind;
    unsigned operator;
    bool heard; /* somebody waits for the answer */
    bool executed;
    int64_t sent_ms;
    struct arena arena;
    /* of the API */
    enum kube_verb verb;
    const char *object_kind;
    const char *name;
    const char *subresource;
    const struct jsn *body;
    bool dry; /* nothing is made of it */
    kube_done_fn api_fn;
    int code;
    /* of the agent */
    const char *node;
    agent_done_fn agent_fn;
    struct err agent_error;
    bool agent_failed;
    bool hold; /* it fails if the node has work afterwards */
    void *arg;
};

/* --- operators --- */

struct sim;

struct sim_operator {
    struct sim *sim;
    unsigned number;
    bool alive;
    bool leads; /* it believes so */
    struct shelf_of_revs cache;
    uint64_t cursor;
    struct queue *queue;
    struct asked *asked;
    struct execution *execution;
    struct executor executor;
    char *running;            /* the key that is worked on */
    struct sim_view views[2]; /* the one that is known, and one that is on its way */
    int64_t view_at_ms;
    bool view_known;
    int64_t watch_stalls_until_ms; /* nothing new comes from the API server */
    uint64_t writes;
};

/* --- the whole --- */

struct sim_timer;

struct sim_options {
    uint64_t seed;
    uint64_t steps;
    uint64_t calm_every;           /* steps of trouble between two times of rest */
    const unsigned char *left_out; /* a bit for each step; NULL: none */
    bool safety;                   /* only what endangers jobs counts, not how all comes to rest */
    bool overlap;                  /* two operators may lead at the same time */
    bool tell;                     /* print what happens */
};

struct sim_tally {
    uint64_t steps;
    uint64_t plans;
    uint64_t writes;
    uint64_t faults;
    uint64_t jobs;
    uint64_t rests; /* times of rest in which all came to rest */
};

struct sim {
    struct sim_options options;
    struct chance chance;
    uint64_t step;
    int64_t now_ms;
    bool calm; /* no faults, nobody acts */
    struct api api;
    struct sim_slurm slurm;
    struct sim_pod pods[SIM_NODES];
    struct sim_call calls[SIM_CALLS];
    struct sim_operator operators[SIM_OPERATORS];
    struct sim_timer *timers;
    void (*deferred[64])(void *arg);
    void *deferred_args[64];
    size_t n_deferred;
    unsigned template_version;
    struct sim_tally tally;
    char fault[512]; /* what must not be; "": nothing has been found */
};

/* Runs to the end or to the first thing that must not be; returns whether there was one. */
bool sim_run(struct sim *s, const struct sim_options *o);
void sim_done(struct sim *s);

/* Something that must not be. */
void sim_fail(struct sim *s, const char *fmt, ...) PRINTF(2, 3);
/* A line of the story. */
void sim_tell(struct sim *s, const char *fmt, ...) PRINTF(2, 3);
int64_t sim_now_us(const struct sim *s);

/* seam.c: what executor and asked call */
struct sim *sim_of_loop(struct loop *l);
void seam_run_deferred(struct sim *s);
void seam_run_timers(struct sim *s);
/* When the next timer is due; INT64_MAX: none is. */
int64_t seam_next_timer_ms(const struct sim *s);
struct sim_call *seam_call(struct sim *s, enum sim_call_kind kind, unsigned operator, void * arg);
void seam_call_free(struct sim_call *c);

/* api.c */
void api_init(struct sim *s);
void api_done(struct sim *s);
/* As an API server does it; returns the HTTP status. */
int api_execute(struct sim *s, struct sim_call *c);
struct jsn *api_edit(struct sim *s, struct arena *a, const char *kind, const char *name);
void api_store(struct sim *s, struct jsn *object, const char *kind, const char *name);
void api_remove(struct sim *s, const char *kind, const char *name);
void api_delete_pod(struct sim *s, const char *name, bool ours);
/* Objects whose deletion waits for nobody any more go. */
void api_collect(struct sim *s);
void api_step(struct sim *s);

/* slurm.c */
unsigned slurm_jobs_on(const struct sim *s, unsigned node);
void slurm_execute(struct sim *s, struct sim_call *c);
void slurm_step(struct sim *s);
/* The jobs of a node are lost; `ours`: by our hand, which must not be. */
void slurm_lose_node(struct sim *s, unsigned node, bool ours, const char *how);
void slurm_register(struct sim *s, unsigned node);
void slurm_see(struct sim *s, struct sim_view *v);
const char *slurm_node_name(unsigned node);
int slurm_node_number(const char *name);

/* kubelet.c */
void kubelet_step(struct sim *s);
void kubelet_appeared(struct sim *s, const struct rev *pod);

/* operator.c */
void operator_start(struct sim *s, unsigned number);
void operator_kill(struct sim *s, unsigned number);
void operator_step(struct sim *s, unsigned number);
void operator_answered(struct sim_operator *o);
/* Is there anything to do at this moment? */
bool operator_is_quiet(const struct sim_operator *o);

/* people.c */
void people_step(struct sim *s);
void people_rest(struct sim *s);

/* rest.c */
void rest_check(struct sim *s);
