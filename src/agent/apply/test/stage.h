/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The stage for tests of the apply machine: an agent without network, on a clock of the test's. */
#pragma once

#include "src/base/test/unit.h"

#include "src/agent/apply/engine.h"
#include "src/agent/apply/test/script.h"

#define STAGE_HEAD                                                                                 \
    "ClusterName=c\nSlurmctldHost=h\nSelectType=select/cons_tres\nNodeName=n[1-9] State=CLOUD\n"
#define STAGE_ALL STAGE_HEAD "PartitionName=all Nodes=ALL Default=YES\n"

/* What lasts: the disk, and slurmctld.  Agents come and go. */
struct stage {
    char dir[64];
    struct ctld *ctld;
    bool no_marker; /* slurmctld has no entry point that starts it again */

    /* one agent */
    struct loop *loop;
    struct script *script;
    struct hub *hub;
    struct store *store;
    struct metrics *metrics;
    struct engine *engine;
    const char *rehearse_words; /* the words that it says no with; NULL: some */
    bool rehearse_once;         /* only the next one says no */
    int rehearse_r;             /* what the next rehearsal says */
    unsigned rehearsals;        /* how many there were */
};

/* An answer to a push or a plan. */
struct push {
    unsigned answers; /* must end up as 1 */
    int status;
    char result[16];
    char step[16];
    char error[256];
    struct engine_waiter *waiter;
    struct arena arena;
    struct jsn *json;
};
void push_done(struct push *p);
DEFINE_AUTO_DONE(struct push, push_done);

/* For cmocka: *state is a new stage whose slurmctld serves STAGE_ALL, with an agent. */
int stage_setup(void **state);
int stage_teardown(void **state);

struct stage *stage_new(const char *conf);
/* Fails the test if slurmctld has come to harm. */
void stage_free(struct stage *s);

/* In this process every legal move from one progress to another has been made. */
void stage_expect_all_moves(void);

void stage_agent_start(struct stage *s);
void stage_agent_stop(struct stage *s);

/* Let that much time go by. */
void stage_run(struct stage *s, int64_t ms);
/* Until the push was answered; fails the test after ten minutes of its clock. */
void stage_wait(struct stage *s, const struct push *p);

void stage_push(struct stage *s, const char *conf, struct push *p);
void stage_push_wait(struct stage *s, const char *conf, struct push *p);
void stage_plan_wait(struct stage *s, const char *conf, struct push *p);

/* The hash of a declaration; borrowed until the next call. */
const char *stage_hash(const char *conf);
/* slurm.conf as it lies there now; owned. */
char *stage_conf(const struct stage *s);
/* The partitions of slurmctld are these, by the value of `key`: "all=UP a=DRAIN". */
void stage_expect(const struct stage *s, const char *key, const char *text);
/* Everything is as this declaration says, in files, record and slurmctld; nothing is under way. */
void stage_expect_settled(struct stage *s, const char *conf);
bool stage_is_settled(struct stage *s, const char *conf);
/* A section of the state, in `a`; and the one that is "config". */
struct jsn *stage_section(struct stage *s, struct arena *a, const char *section);
struct jsn *stage_state(struct stage *s, struct arena *a);
