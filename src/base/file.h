/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whole files: read with a cap, written so that a reader sees the old or the new one, never a mix.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "src/base/str.h"

/* Read a whole file of at most max_bytes.  *ret_text is owned and terminated. */
int file_read(const char *path, size_t max_bytes, char **ret_text, size_t *ret_n,
              struct err *e) MUST_CHECK;

/*
 * Replace a file: written beside it under another name, synced, renamed over it, the directory
 * synced.  On failure the old file is untouched and the other one gone.
 */
int file_write(const char *path, struct str content, mode_t mode, struct err *e) MUST_CHECK;

/* As file_write, but leaves a file with the same content and mode alone; *ret_changed tells. */
int file_update(const char *path, struct str content, mode_t mode, bool *ret_changed,
                struct err *e) MUST_CHECK;

/* Copy a file to a new name, of any size, synced; a failed copy leaves nothing. */
int file_copy(const char *from, const char *to, mode_t mode, struct err *e) MUST_CHECK;

bool file_exists(const char *path);
/* How many entries a directory has; -1: it cannot be read, or there is none. */
long file_dir_count(const char *path);

/* Make a directory and its parents, with that mode whatever the umask; an existing one is fine, and
 * its mode is left alone. */
int file_make_dirs(const char *path, mode_t mode, struct err *e) MUST_CHECK;

/*
 * Make a directory that is ours alone (0700): there is no other way to a name in it.  -EPERM where
 * it is a link, is somebody else's, or is open to others and cannot be closed.
 */
int file_private_dir(const char *path, struct err *e) MUST_CHECK;
/* Open a file in such a directory for locks and notes: made with 0600; never through a link. */
int file_private_open(const char *path, int *ret_fd, struct err *e) MUST_CHECK;

/* Remove a file or a whole tree, never crossing into another file system nor following links. */
int file_remove_tree(const char *path, struct err *e) MUST_CHECK;

/* Write all of it to a descriptor, however many calls that takes. */
int file_write_all(int fd, struct str content) MUST_CHECK;
