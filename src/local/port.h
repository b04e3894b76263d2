/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A port of this machine's loopback for a process that binds it later. */
#pragma once

#include "src/base/cleanup.h"

/* Is the port free, and does no other cluster mean to take it?  Then an owned descriptor: whoever
 * has it open has the port.  Else -1. */
int port_hold(int port) MUST_CHECK;
