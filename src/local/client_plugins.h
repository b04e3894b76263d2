/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Our plugin among those of the machine's Slurm commands. */
#pragma once

#include "src/base/str.h"

struct client_plugin {
    const char *file;          /* our plugin for this series of Slurm; NULL: there is none */
    char *const *const *lists; /* of shared directories, each NULL-terminated or NULL */
    size_t n_lists;
};

/*
 * Write DIR/plugstack.conf: what the cluster's says, then ours, if there is one.  The plugin is
 * copied into DIR, where every user may read it.  Without either there is no file.
 */
int client_plugins_write(const struct client_plugin *p, const char *dir, struct str cluster,
                         struct err *e) MUST_CHECK;
