/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A socket inside the network of a pod. */
#pragma once

#include <sys/types.h>

/* A TCP socket, not connected, that belongs to the network namespace of that process and does not
 * block; owned.  -1: there is no such process any more, or no more processes or descriptors. */
int pod_socket(pid_t pid);
