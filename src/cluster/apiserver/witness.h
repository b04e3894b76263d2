/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Second marks of state directories, where no backup of a directory brings them back. */
#pragma once

#include "src/base/str.h"

/* Where the mark of this state directory is kept, below `dir`, which is made; owned.  NULL: there
 * is no such directory, or this process may not write there. */
char *witness_place(const char *dir, const char *state);

/* The state directory is about to be removed: nobody shall miss what was in it. */
void witness_forget(const char *dir, const char *state);

/*
 * Remove what belongs to state directories that are gone, if it has not been written for a day: a
 * directory may be on a file system that is not mounted at the moment.
 */
void witness_sweep(const char *dir, int64_t now_s);
