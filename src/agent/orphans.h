/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reaps processes that were left to us, as they are to the first process of a container. */
#pragma once

#include <sys/types.h>

/* {0} is a valid start. */
struct orphans {
    pid_t seen; /* ended, and nobody had asked for it the last time */
};

/* To be called now and then, from the loop; at least one turn of it lies between two calls. */
void orphans_reap(struct orphans *o);
