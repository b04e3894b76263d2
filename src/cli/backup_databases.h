/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The databases of Accountings in a backup: a copy of the files of one that runs would be torn. */
#pragma once

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/base/err.h"

/* Directories, relative to the claims' own, that are not to be copied: a dump stands beside. */
struct backup_databases {
    const char **left_out; /* in `a` */
    size_t n;
};

/*
 * Have every database below `claims` write itself into a file beside its data.  One that does not
 * run is copied as it is.  `told` gets what a person should know, or stays empty.
 */
int backup_databases(struct arena *a, const char *claims, struct backup_databases *ret,
                     struct buf *told, struct err *e) MUST_CHECK;
