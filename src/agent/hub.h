/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of Slurm, asked for once whatever the number of watchers. */
#pragma once

#include "src/agent/jobs.h"
#include "src/agent/link.h"
#include "src/agent/live.h"
#include "src/slurm/hostset.h"

struct hub;

enum hub_table { HUB_NODES, HUB_PARTITIONS, HUB_JOBS, HUB_RESERVATIONS, HUB_N_TABLES };

/* Small parts of the state that always come as a whole. */
enum hub_section { HUB_SLURMCTLD, HUB_COUNTS, HUB_DRIFT, HUB_CONFIG, HUB_N_SECTIONS };

struct hub_events {
    /* slurmctld answers again, or for the first time, or is another process than before. */
    void (*on_up)(void *arg);
    /* A round of questions is over and its answers are in; before watchers hear of it. */
    void (*on_round)(void *arg);
    /* Whether somebody may have talked to slurmctld, as activity_read, which NULL stands for. */
    bool (*activity)(uint64_t *ret_accepted);
};

struct hub *hub_new(struct loop *l, struct link *link, const struct hub_events *events, void *arg);
struct hub *hub_free(struct hub *h);
DEFINE_AUTO(struct hub, hub_free);

/* Start asking. */
void hub_start(struct hub *h);
/* Something was changed in slurmctld: ask for everything soon, and look closely for a while. */
void hub_touch(struct hub *h);
/* Read the table as a whole when its turn comes, whether or not slurmctld says that it has changed.
 */
void hub_doubt(struct hub *h, enum hub_table table);

/* What is known.  `up` is of the last answer; the release is 0 until something has told it. */
bool hub_up(const struct hub *h);
uint32_t hub_release(const struct hub *h);
/* Epoch seconds at which the running slurmctld started; 0: not known. */
int64_t hub_boot_time(const struct hub *h);
const struct live *hub_live(const struct hub *h);
const struct jobs *hub_jobs(const struct hub *h);
/* All nodes as slurmctld lists them, or the dynamic ones among them; borrowed until the loop's next
 * turn.  Worked out once for each list of nodes. */
const struct host_set *hub_nodes(struct hub *h, bool dynamic_only);
/* A node, other than of `but` (or NULL), whose slurmd runs for longer than slurmctld: it has the
 * files of the one before.  NULL: there is none. */
const char *hub_older_node(const struct hub *h, const struct host_set *but);
/* True once partitions, nodes and jobs have been read since slurmctld came up. */
bool hub_complete(const struct hub *h);
/* The same of one table. */
bool hub_knows(const struct hub *h, enum hub_table table);

/*
 * Have a table read now; fn is called with the answer in place, or with why there is none (as the
 * link's codes).  Never from within.
 */
typedef void (*hub_fresh_fn)(void *arg, int r, const struct err *e);
void hub_refresh(struct hub *h, enum hub_table table, uint64_t timeout_ms, hub_fresh_fn fn,
                 void *arg);
/* Ask whether slurmctld is there, and which one. */
void hub_ping(struct hub *h, uint64_t timeout_ms, hub_fresh_fn fn, void *arg);

/* Counts the times that slurmctld has listed its partitions. */
uint64_t hub_partitions_seen(const struct hub *h);
/* When the question was asked whose answer they are; monotonic. */
int64_t hub_partitions_asked_ns(const struct hub *h);

/*
 * What was read of some partitions outside of the hub's own rounds, by a question that was asked
 * then: it counts until the hub has asked later.  A name that is not in `live` is not there.
 */
void hub_note(struct hub *h, const char *const *names, size_t n, const struct live *live,
              int64_t asked_ns);
/* The newest that is known of a partition; NULL: there is none. */
const struct live_partition *hub_partition(const struct hub *h, const char *name);

/* How many nodes slurmctld counts in a partition; -1: not known. */
int64_t hub_partition_nodes(const struct hub *h, const char *name);

/* Set a section to a JSON text; watchers hear of it if it has changed, which is returned. */
bool hub_section_put(struct hub *h, enum hub_section section, struct str text);

/*
 * Watch.  hub_print appends the state since a version ("" or NULL: all of it).  hub_is_newer tells
 * whether there is anything to print.  A watcher is called once, when there is; then it is over.
 */
bool hub_is_newer(const struct hub *h, const char *since);
void hub_print(const struct hub *h, const char *since, struct buf *out);
struct hub_watcher;
struct hub_watcher *hub_watch(struct hub *h, loop_defer_fn fn, void *arg);
struct hub_watcher *hub_watcher_free(struct hub_watcher *w);
size_t hub_watchers(const struct hub *h);

/* Which stage of a change of keys slurmctld has; "" for not known.  Told with what is published
 * next. */
#define HUB_KEY_STAGE_MAX 40
void hub_set_key_stage(struct hub *h, struct str stage);
