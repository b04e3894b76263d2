/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fair shares: who holds how much of what is scarce, and who gives way first. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "src/base/list.h"
#include "src/base/map.h"

/*
 * Members (connections, say) belong to accounts (an address, a user), and accounts to a crowd.
 * Each member may also hold bytes.  When room is needed, the member that has been idle for the
 * longest time in the greediest account gives way; so whoever takes little is never sent away for
 * whoever takes much.  The crowd only counts and picks: whoever owns the member ends it.
 */
struct crowd {
    struct map accounts; /* name -> struct crowd_account */
    size_t n;            /* members of all accounts */
    size_t bytes;
    uint64_t clock; /* rises by one each time a member becomes idle */
};

struct crowd_account {
    struct crowd *crowd;
    char *name;
    size_t n;
    size_t bytes;
    struct list idle; /* members that may be sent away, the oldest first */
};

/* Embedded in its owner; {0} belongs to no account. */
struct crowd_member {
    struct crowd_account *account;
    struct list idle;
    uint64_t idle_since;
    size_t bytes;
};

void crowd_init(struct crowd *c);
/* All members have left. */
void crowd_done(struct crowd *c);

/* Into the account of that name, which is made at need; from whatever account it was in. */
void crowd_join(struct crowd *c, struct crowd_member *m, const char *name);
/* Safe on a member of nothing.  An account goes with its last member. */
void crowd_leave(struct crowd_member *m);

/* May it be sent away?  What is idle already keeps its place. */
void crowd_set_idle(struct crowd_member *m, bool idle);
/* It holds that many bytes now. */
void crowd_set_bytes(struct crowd_member *m, size_t bytes);

/* How many members and bytes the account of that name has. */
size_t crowd_count(const struct crowd *c, const char *name);

enum crowd_by { CROWD_BY_COUNT, CROWD_BY_BYTES };
/* Who gives way first; NULL if nobody is idle. */
struct crowd_member *crowd_pick(const struct crowd *c, enum crowd_by by);
/* The same within one account. */
struct crowd_member *crowd_pick_of(const struct crowd *c, const char *name);
