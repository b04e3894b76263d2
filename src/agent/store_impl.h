/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of the store share; nobody else includes it. */
#pragma once

#include "src/agent/store.h"

struct store {
    char *live;
    char *dir;
    struct record *good;
    struct record *pending;
    char history[STORE_HISTORY][SHA256_HEX_LEN + 1]; /* oldest first */
    size_t n_history;
};

/* Write a new file and sync it; not renamed, the directory not synced. */
int store_write_synced(const char *path, struct str content, mode_t mode,
                       struct err *e) MUST_CHECK;
