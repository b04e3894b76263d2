/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Paths of directories: what lies in what, and what a path leads through. */
#pragma once

#include <stdbool.h>

/* Is `path` the directory `dir`, or below it?  By their names alone; slashes at the end of `dir` do
 * not count. */
bool path_is_in(const char *path, const char *dir);
/* Likewise, and not `dir` itself. */
bool path_is_below(const char *path, const char *dir);

/* The real path; of what is not there yet, the real path of the directory above it that is.  Owned.
 */
char *path_real(const char *path);

/* Does `path` lead through `dir`, another directory, by way of a link: does it end below it,
 * although its name does not say so, or does a link on the way lie below it?  Whoever writes `dir`
 * then decides where `path` leads, wherever that is now. */
bool path_enters(const char *path, const char *dir);
