/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slurm.conf with its includes, read from disk by our own parser. */
#pragma once

#include "src/slurm/conf.h"

struct conf_files {
    char *texts[CONF_MAX_FILES];
    size_t n;
    struct faults faults;
    struct conf *conf; /* NULL if nothing could be read */
    char *missing;     /* "'/etc/slurm/x.conf' cannot be read: ..." of the first such include */
};

/* *ret need not be initialised.  Fails where the file itself cannot be read or passes a limit; what
 * is wrong inside is in `faults` and `missing`. */
int conffiles_read(const char *path, struct conf_files *ret, struct err *e) MUST_CHECK;
void conffiles_done(struct conf_files *f);
DEFINE_AUTO_DONE(struct conf_files, conffiles_done);
