/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parts of `slurmkeeper up`: its waits, each for something that another process brings about, and
 * what pods share with the machine. */
#pragma once

#include "src/cli/reach.h"
#include "src/cli/steps.h"
#include "src/local/ask.h"
#include "src/local/install.h"

struct up {
    struct layout layout;
    struct steps steps;
    struct ask *ask;
    struct arena arena;
    int64_t deadline_ms;
    bool accounting;     /* every Controller shall have an Accounting */
    bool started;        /* nobody served the cluster before */
    struct install next; /* another Slurm, which pods that run are to become; {0}: none */
};

/* Until the server answers and has the definitions of our kinds. */
int up_wait_api(struct up *u, struct err *e) MUST_CHECK;
/* Until slurmctld of every Controller answers to commands on this machine. */
int up_wait_controllers(struct up *u, struct err *e) MUST_CHECK;
/* Until the node has held its pods against the API server. */
int up_wait_settled(struct up *u) MUST_CHECK;
/* Until every node that NodeSets ask for is there and takes jobs; a note says what came of it. */
int up_wait_nodes(struct up *u, char *ret_note, size_t n, struct err *e) MUST_CHECK;

/* Are the programs of an Accounting there, beside that Slurm or in PATH? */
int up_accounting_check(const char *slurm_prefix, struct err *e) MUST_CHECK;
/* Give a Controller of a manifest an Accounting, where it shall have one and names none. */
int up_accounting_add(struct up *u, const struct jsn **object, struct err *e) MUST_CHECK;
/* The same for those that the API server has. */
int up_accounting_patch(struct up *u, struct err *e) MUST_CHECK;
/* Until slurmdbd of every Controller answers to commands on this machine, and has the cluster. */
int up_wait_accounting(struct up *u, struct err *e) MUST_CHECK;

/* Until slurmctld and all nodes are the next Slurm. */
int up_wait_slurm(struct up *u, struct err *e) MUST_CHECK;

/* Sets u->next where `named` is another Slurm than the one that pods run; fails if they cannot
 * become it. */
int up_slurm_find(struct up *u, const struct choices *kept, const char *named,
                  struct err *e) MUST_CHECK;
/* Tell node and Controllers of the next Slurm. */
int up_slurm_declare(struct up *u, struct err *e) MUST_CHECK;
/* How far is it?  Fails if it is refused.  The note is in the arena, and set while it is not done.
 */
int up_slurm_look(struct up *u, bool *ret_done, const char **ret_note, struct err *e) MUST_CHECK;
/* It is done: the cluster has the next one. */
int up_slurm_keep(struct up *u, struct err *e) MUST_CHECK;

/* Is the working directory shared, although nobody named it? */
bool up_shares_here(const struct cli_args *args, const char *state, const char *here);
/* Options of `serve` that say what is shared, from argv[n] on; returns where they end. */
size_t up_share_args(const struct cli_args *args, const char *state, const char *here,
                     const char **argv, size_t n, size_t max);
/* Say so where slurmkeeper, or the Slurm of that prefix (or NULL), lies where jobs may write. */
void up_share_tell(const struct cli_args *args, const char *state, const char *slurm);
/* Does the running cluster share what --share names?  It cannot begin to while it runs. */
int up_share_check(const struct cli_args *args, const struct choices *c, struct err *e) MUST_CHECK;
