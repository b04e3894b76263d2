/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The controllers that slurm.conf names: who they are, and which of them answers. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct conf;

/* Take the SlurmctldHost lines; without any, or with NULL, there is one controller.  Once, before
 * anything else. */
void controllers_read(const struct conf *conf);

size_t controllers_count(void);
const char *controllers_name(size_t i);

/* One connection, no second try: 0, or the error's code. */
int controllers_ping(size_t i);

/* Nobody listens at the port of any of them.  May be called in any thread. */
bool controllers_all_down(void);
