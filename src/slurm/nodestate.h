/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Node states: base states and flags of Slurm's state word, their names, and what is busy. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "src/base/buf.h"

enum node_state {
    /* The low four bits of the state word: same numbers in every release. */
    NODE_BASE_UNKNOWN,
    NODE_BASE_DOWN,
    NODE_BASE_IDLE,
    NODE_BASE_ALLOCATED,
    NODE_BASE_ERROR,
    NODE_BASE_MIXED,
    NODE_BASE_FUTURE,
    NODE_N_BASES,

    /* The other bits, by their place.  Bit 4 means NET before 24.05 and EXTERNAL from 25.05 on. */
    NODE_FLAG_EXTERNAL = 1U << 4,
    NODE_FLAG_RESERVED = 1U << 5,
    NODE_FLAG_UNDRAIN = 1U << 6,
    NODE_FLAG_CLOUD = 1U << 7,
    NODE_FLAG_RESUME = 1U << 8,
    NODE_FLAG_DRAIN = 1U << 9,
    NODE_FLAG_COMPLETING = 1U << 10,
    NODE_FLAG_NO_RESPOND = 1U << 11,
    NODE_FLAG_POWERED_DOWN = 1U << 12,
    NODE_FLAG_FAIL = 1U << 13,
    NODE_FLAG_POWERING_UP = 1U << 14,
    NODE_FLAG_MAINT = 1U << 15,
    NODE_FLAG_REBOOT_REQUESTED = 1U << 16,
    NODE_FLAG_REBOOT_CANCEL = 1U << 17,
    NODE_FLAG_POWERING_DOWN = 1U << 18,
    NODE_FLAG_DYNAMIC_FUTURE = 1U << 19,
    NODE_FLAG_REBOOT_ISSUED = 1U << 20,
    NODE_FLAG_PLANNED = 1U << 21,
    NODE_FLAG_INVALID_REG = 1U << 22,
    NODE_FLAG_POWER_DOWN = 1U << 23,
    NODE_FLAG_POWER_UP = 1U << 24,
    NODE_FLAG_POWER_DRAIN = 1U << 25,
    NODE_FLAG_DYNAMIC = 1U << 26,
    NODE_FLAG_BLOCKED = 1U << 27,
};
#define NODE_BASE_MASK 0xfU

static inline unsigned nodestate_base(uint32_t state)
{
    return state & NODE_BASE_MASK;
}

/* Append base and flags as scontrol writes them: "IDLE+DRAIN+DYNAMIC_NORM". */
void nodestate_print(uint32_t state, struct buf *out);

/*
 * Read "IDLE+DRAIN" (also with commas, in any case).  slurmrestd's lists of names are read by
 * joining them.  -EINVAL names the word that is no state.
 */
int nodestate_parse(struct str text, uint32_t *ret_state, struct err *e) MUST_CHECK;

/* What is known of a node.  {0} stands for knowing nothing, which counts as busy. */
struct node_view {
    bool state_known;
    bool jobs_known;
    uint32_t state;
    unsigned jobs; /* running, suspended or completing on it */
};

/*
 * True unless it is certain that no job runs on the node: its state and its jobs are known, there
 * are none, and the base state says so too.  A suspended job leaves the base state idle, hence the
 * count; a node that has not registered since slurmctld started may still run one.
 */
bool nodestate_busy(const struct node_view *node);

/*
 * Does a reason belong to a node in this state: is it down, drained, failed or about to be
 * rebooted? Slurm 23.11 to 25.11 without accounting leave the last reason on a node that is up
 * again.
 */
bool nodestate_has_reason(uint32_t state);

/* Draining is over: the flag is set, nothing runs, nothing completes. */
bool nodestate_drained(uint32_t state);
