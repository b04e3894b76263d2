/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of the hub share; nobody else includes it. */
#pragma once

#include "src/agent/hub.h"
#include "src/agent/table.h"
#include "src/base/list.h"
#include "src/base/map.h"

#define HUB_ALL ((1U << HUB_N_TABLES) - 1)
/* A second controller that is not to be found takes its time. */
#define HUB_PING_TIMEOUT_MS 20000

struct hub_list {
    struct arena arena;
    struct jsn *items;     /* as slurmctld told them last; NULL: never */
    int64_t since;         /* its clock at that */
    bool changed;          /* since the last publication */
    int64_t not_before_ms; /* a table that takes long is asked for less often */
    struct table rows;     /* as watchers get them */
};

struct hub {
    struct loop *loop;
    struct link *link;
    struct hub_events events;
    void *arg;

    struct hub_list lists[HUB_N_TABLES];
    struct live live;
    uint64_t live_seen;
    int64_t live_asked_ns;
    struct map notes;          /* struct hub_note by the partition's name, newer than `live` */
    struct host_set *nodes[2]; /* all, and the dynamic ones; NULL: not worked out yet */
    struct jobs jobs;
    struct buf sections[HUB_N_SECTIONS];

    bool up;
    unsigned known; /* bits of the lists that were read since slurmctld came up */
    uint32_t release;
    uint32_t told;           /* the same, by its own word; 0: it has not answered yet */
    unsigned mismatches;     /* pings in a row that slurmctld has refused */
    bool mismatch;           /* slurmctld refuses our libslurm */
    unsigned child_failures; /* in a row */
    char why[240];           /* in a sentence; "" while there is nothing to say */
    int64_t boot_time;
    char key_stage[HUB_KEY_STAGE_MAX + 1];
    struct arena controllers_arena;
    const struct jsn *controllers; /* as the last ping told them; NULL: not yet */

    char boot[17]; /* of this process: versions of another one mean nothing */
    uint64_t version;
    bool newer; /* something has changed that watchers have not been told */

    struct loop_source *timer;
    bool pinging;
    unsigned in_flight; /* calls of the round */
    int64_t silent_ms;  /* since the last of them was begun, or answered */
    int64_t ticked_ms;
    unsigned round_calls;
    unsigned ticks;
    unsigned wanted;   /* bits of the lists to be read soon */
    bool for_activity; /* the round is there because somebody talked to slurmctld */
    int64_t next_ms;   /* when the next small call is due */
    int64_t close_look_until_ms;
    uint64_t accepted; /* connections that the kernel had counted after the last round */
    bool activity_known;

    struct list questions; /* calls that have not been answered */
    struct list watchers;
    size_t n_watchers;
};

/* Between two looks at a slurmctld that does not talk to us at all. */
#define HUB_MISMATCH_MS 10000

/* hub_round.c; a hub_refresh without a function is a call of the round. */
void hub_on_timer(void *arg);
void hub_round_ended(struct hub *h);
/* A call has been without an answer for so long that slurmctld cannot be said to answer. */
void hub_overdue(struct hub *h);
/* Ask more often for a while. */
void hub_look_closely(struct hub *h);

/* hub_note.c */
void hub_note_free(void *note);
/* The hub's own picture is of that moment: older notes are of no use any more. */
void hub_notes_drop(struct hub *h, int64_t asked_ns);

/* hub_publish.c: work what was read into rows, and tell the watchers. */
void hub_publish(struct hub *h);
