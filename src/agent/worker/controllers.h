/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The controllers that slurm.conf names: who they are, and which of them answers. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct conf;

/* Take the SlurmctldHost lines and where they are reached; without any, or with NULL, there is one
 * controller.  Once, before anything else. */
void controllers_read(const struct conf *conf);

size_t controllers_count(void);
const char *controllers_name(size_t i);

/* One connection, no second try: 0, or the error's code. */
int controllers_ping(size_t i);

/*
 * Does the address that calls go to (SlurmctldAddr: a Service, in Kubernetes) turn connections
 * away, though a controller is there?  It does so until the Service knows its pod, and libslurm
 * would sleep for a second.
 */
bool controllers_way_closed(void);

/* Nobody listens at the port of any of them.  May be called in any thread. */
bool controllers_all_down(void);
