/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values of configuration keys: what is allowed, and which texts mean the same. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "src/base/buf.h"

enum value_kind {
    VALUE_TEXT,    /* compared as it stands */
    VALUE_WORD,    /* compared without case */
    VALUE_BOOL,    /* YES UP TRUE 1, NO DOWN FALSE 0 */
    VALUE_U16,     /* also octal and hex, INFINITE, UNLIMITED */
    VALUE_U32,     /* as U16, and a suffix K (times 1024) */
    VALUE_U64,     /* as U32 */
    VALUE_FLOAT,   /* decimal */
    VALUE_MINUTES, /* a time ("90", "90:30", "24:00:00", "1-0", UNLIMITED), rounded up to minutes */
    VALUE_SECONDS, /* the same forms, in seconds */
    VALUE_SUSPEND, /* seconds, or NONE, INFINITE, -1 */
    VALUE_OVERTIME, /* minutes below 65535, INFINITE, UNLIMITED */
    VALUE_LOGLEVEL, /* a name or a number */
    VALUE_PORTS,    /* "6817" or "6817-6820" */
    VALUE_SHARE,    /* OverSubscribe: NO, EXCLUSIVE, YES[:n], FORCE[:n] */
    VALUE_PREEMPT,  /* OFF, CANCEL, REQUEUE, SUSPEND with GANG or WITHIN */
    VALUE_ENUM,     /* one of the choices */
    VALUE_FLAGS,    /* several of the choices, in any order */
    VALUE_PREFIX,   /* starts with one of the choices (Slurm compares no further) */
    VALUE_PLUGIN,   /* "auth/munge": of the class that the first choice names */
    VALUE_PLUGINS,  /* several, in order; a name without class is of the same class */
    VALUE_OPTIONS,  /* comma-separated, in any order: "enable_configless,cloud_dns" */
    VALUE_NAMES,    /* the same, and without case: accounts, QOS */
    VALUE_WEIGHTS,  /* weights of resources, in any order: "CPU=1.0,Mem=0.25G,GRES/gpu=2" */
    VALUE_HOSTS,    /* a host list */
    VALUE_NODES,    /* a host list that may hold NodeSets, functions in braces, and ALL */
    VALUE_HOSTADDR, /* "name" or "name(address)" */
    VALUE_N_KINDS,
};

/* Numbers stand in 64 bits with these two for what Slurm writes as INFINITE and NO_VAL. */
#define VALUE_INFINITE UINT64_MAX
#define VALUE_UNSET (UINT64_MAX - 1)
/* In the number of VALUE_SHARE: jobs are forced to share. */
#define VALUE_SHARE_FORCE 0x8000U
/* Bits of the number of VALUE_PREEMPT. */
#define VALUE_PREEMPT_SUSPEND 0x1U
#define VALUE_PREEMPT_REQUEUE 0x2U
#define VALUE_PREEMPT_CANCEL 0x8U
#define VALUE_PREEMPT_WITHIN 0x4000U
#define VALUE_PREEMPT_GANG 0x8000U
/* 25.05 and later. */
#define VALUE_PREEMPT_PRIORITY 0x2000U

/*
 * How the values of one key look.  `choices` (for ENUM, FLAGS, PREFIX and PLUGIN) are words with
 * blanks between them.  A word may have ":OTHER" after it (another way to write OTHER), ">23.11"
 * (from that release on) or "<23.11" (before it).
 */
struct value_type {
    enum value_kind kind;
    const char *choices;
};

/*
 * Check a value for a release.  0 if it is fine; -EINVAL with what is allowed ("is not a number
 * from 0 to 65535, INFINITE or UNLIMITED"), to stand after the value.  -ENOTSUP for a plugin that
 * is not one of Slurm's own: it may still be installed.
 */
int value_check(struct value_type type, uint32_t release, struct str value,
                struct err *e) MUST_CHECK;

/* The number of a value whose kind has one: numbers, times, BOOL, SHARE, PREEMPT, ENUM (index). */
int value_number(struct value_type type, struct str value, uint64_t *ret_number) MUST_CHECK;

/* Append the one form of all texts that mean the same; a bad value is copied as it is. */
void value_normal(struct value_type type, struct str value, struct buf *out);

/* True if both mean the same. */
bool value_same(struct value_type type, struct str a, struct str b);

/* Append a number in the form that configuration files and scontrol use for its kind. */
void value_print(struct value_type type, uint64_t number, struct buf *out);
