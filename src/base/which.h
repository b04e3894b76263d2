/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where programs are: the directories of PATH, then the usual ones. */
#pragma once

#define WHICH_USUAL "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

/*
 * The first program of that name in a list of directories such as PATH (NULL: none), else in
 * WHICH_USUAL; owned, or NULL.  Of a directory "bin" the "sbin" beside it counts, too: people's
 * PATH often lacks it.  Entries that are not absolute do not count: they would mean whatever
 * directory somebody stands in.
 */
char *which_program(const char *name, const char *path);

/* The prefix that a program is installed in: "/opt/x/sbin/y" is in "/opt/x"; what is in /bin or
 * /sbin is in "/usr".  Owned. */
char *which_prefix(const char *program);
