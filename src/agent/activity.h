/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tells without a call to slurmctld whether somebody may have talked to it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * The number of TCP connections that were accepted in this network namespace, from the kernel's
 * count.  slurmctld is in the same namespace: as long as the number stays, nobody has asked it
 * anything.  False if the kernel does not tell.
 */
bool activity_read(uint64_t *ret_accepted);

/* The same from the text of /proc/net/snmp; pure. */
bool activity_parse(const char *text, uint64_t *ret_accepted);
