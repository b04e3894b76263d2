/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The settings of slurm.conf that are the operator's: who slurmctld is, where its state lies, with
 * which keys and users the daemons talk. */
#pragma once

struct owned_key {
    const char *key;
    const char *fixed; /* values that it may have in every cluster; NULL: each has its own */
    const char *what;  /* it is, for who declares it; NULL: it may be declared */
    const char *why;   /* it cannot change under a slurmctld that has run; NULL: it can */
    const char *item;  /* of a list of options: only this one cannot; NULL: all of it */
};

/* All of them, by name; ends with a NULL key. */
extern const struct owned_key owned_keys[];
