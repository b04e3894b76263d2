/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Does a directory of this machine mean the same one to the cluster's nodes? */
#pragma once

#include <stdbool.h>

/* Is `dir` in none of the directories that arguments of the form "share=DIR" name? */
bool unshared_dir(const char *dir, int n, char *const *arguments);

/* The directory that a command line of sbatch (words, each ended by '\0', `size` bytes in all)
 * names for the job by -D or --chdir; NULL if it names none.  It is in `words`. */
const char *unshared_chdir(const char *words, unsigned long size);
