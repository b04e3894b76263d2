/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The known configuration keys: what their values are, which releases have them, what a change
 * costs. */
#pragma once

#include "src/slurm/conf.h"
#include "src/slurm/profile.h"
#include "src/slurm/value.h"

/* How a changed key reaches a running slurmctld; a heavier one does what a lighter one does. */
enum change_class {
    CHANGE_NONE,        /* Slurm ignores the key */
    CHANGE_RPC,         /* one remote call, in milliseconds */
    CHANGE_RECONFIGURE, /* the files are read again */
    CHANGE_RESTART,     /* slurmctld (and perhaps slurmd) must be started again */
};

enum key_flag {
    KEY_REPEATS = 1U << 0,        /* each occurrence counts, in order */
    KEY_REPEATS_2405 = 1U << 1,   /* from 24.05 on; before that the last one wins */
    KEY_OWN_ONLY = 1U << 2,       /* not inherited from a DEFAULT line */
    KEY_NO_UNSET = 1U << 3,       /* an RPC can set it, but not take it back */
    KEY_PER_NODE = 1U << 4,       /* a list with one element for each node of the line */
    KEY_NOT_IN_DEFAULT = 1U << 5, /* Slurm refuses it in a DEFAULT line */
    KEY_SECRET = 1U << 6,         /* the value is never shown */
    KEY_LENIENT = 1U << 7,        /* Slurm logs a bad value and goes on without it */
};

struct conf_key {
    const char *name;
    struct value_type type;
    enum change_class before; /* 22.05 and 23.02: reconfigure works inside the running process */
    enum change_class after;  /* 23.11 and later: reconfigure starts a new one */
    unsigned flags;           /* enum key_flag */
    uint32_t since;           /* first release that has it; 0: 22.05 or earlier */
    uint32_t gone;            /* first release that refuses it; 0: none yet */
    uint32_t ignored;         /* first release that logs and ignores it; 0: none yet */
    const char *dflt;         /* value that not setting it means, where that is the same for all */
    const char *same_as;      /* older name of that key */
    const char *warning;      /* what to know before changing it */
    size_t text_at;           /* field of struct partition: offset plus one; 0: none */
    size_t number_at;
};

/* The key of a section, without regard to case; NULL if no known release has it. */
const struct conf_key *keys_find(enum conf_kind kind, enum conf_section section, struct str name);

/* All keys of a section, sorted by name without case.  NULL and 0 for a section without any. */
const struct conf_key *keys_of(enum conf_kind kind, enum conf_section section, size_t *ret_n);

/* True if the release has the key and does not ignore it. */
bool keys_in_release(const struct conf_key *key, uint32_t release);

/* What a change of the key costs in this release. */
enum change_class keys_class(const struct conf_key *key, uint32_t release);

/* "rpc", "reconfigure", "restart", "none" */
const char *change_class_name(enum change_class class);
