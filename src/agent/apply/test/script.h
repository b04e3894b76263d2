/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A scripted worker: a link whose answers a test decides. */
#pragma once

#include "src/agent/apply/test/ctld.h"
#include "src/agent/link.h"

enum script_act {
    SCRIPT_DO,          /* as slurmctld would */
    SCRIPT_REFUSE,      /* a definite no; nothing is done */
    SCRIPT_DENY,        /* likewise: it does not let us */
    SCRIPT_DOWN,        /* slurmctld is not there */
    SCRIPT_BUSY,        /* not now */
    SCRIPT_DIE,         /* the child ends, nothing was done */
    SCRIPT_DO_AND_DIE,  /* the child ends, and it was done */
    SCRIPT_HANG,        /* no answer within the call's time, nothing was done */
    SCRIPT_DO_AND_HANG, /* likewise, and it was done */
    SCRIPT_LATE,        /* done and answered, just before the call's time is over */
    SCRIPT_TWICE,       /* done once, answered twice */
    SCRIPT_HALF,        /* a partition's change stops half-way, and says that all is well */
    SCRIPT_NO_ROOM,     /* link_call itself fails */
    SCRIPT_N,
};

struct script;

struct script *script_new(struct loop *l, struct ctld *c);
struct script *script_free(struct script *s);
struct link *script_link(struct script *s);

/*
 * The next call of that name (or NULL: any call of the lane for changes) that a job makes is dealt
 * with so; calls before it are done.  `skip` calls of that name go by first.
 */
void script_next(struct script *s, const char *call, unsigned skip, enum script_act act);

/* The calls of the lanes for changes and for parsing so far, joined by "; ".  Then forgotten. */
const char *script_said(struct script *s);
void script_forget(struct script *s);
/* Is a fault still to come? */
bool script_scripted(const struct script *s);
/* How often the children were replaced. */
unsigned script_restarts(const struct script *s);
/* Calls that wait for their answer. */
unsigned script_open(const struct script *s);
