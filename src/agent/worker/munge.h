/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Is munged there?  libslurm tries for most of a minute before it says that it is not. */
#pragma once

#include <stdbool.h>

struct conf;

/* Find out from slurm.conf whether munge is used, and its socket.  Once, before anything else. */
void munge_read(const struct conf *conf);

/* Munge is used, and nobody listens at its socket.  May be called in any thread. */
bool munge_down(void);
const char *munge_socket(void);
