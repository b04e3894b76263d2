/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The agent as a whole: all its parts, put together and run. */
#pragma once

#include "src/agent/options.h"

/* Serve until SIGTERM or SIGINT.  Fails if it cannot start. */
int agent_run(const struct agent_options *o, struct err *e) MUST_CHECK;
