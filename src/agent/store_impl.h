/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of the store share; nobody else includes it. */
#pragma once

#include "src/agent/store.h"

struct store {
    char *live;
    char *dir;
    struct record *good;
    struct record *pending;
    bool lazy;
    bool unsynced;                                   /* something was written lazily */
    char history[STORE_HISTORY][SHA256_HEX_LEN + 1]; /* oldest first */
    size_t n_history;
};

/* Write a new file, and have it on disk if `sync`; not renamed, the directory not synced. */
int store_write_new(const char *path, struct str content, mode_t mode, bool sync,
                    struct err *e) MUST_CHECK;
int store_sync_path(const char *path, struct err *e) MUST_CHECK;
