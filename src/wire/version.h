/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The version of what operator, agent and `slurmkeeper plan` say to each other. */
#pragma once

#include "src/json/jsn.h"

/*
 * Every request and every answer has "wire": N; one without it is of version 1.
 *
 * Within a version, members may be added to answers and to the state: a reader ignores those that
 * it does not know.  Nothing may be added to a request, no name may be added to an enumeration, and
 * nothing may change its meaning: that is a new version.  For a member of a request that the agent
 * does not know would be declared and silently without effect.
 *
 * Whoever gets a version that is newer than its own refuses it with a sentence that says which side
 * has to be updated.
 */
#define WIRE_VERSION 1
#define WIRE_KEY "wire"

/* 0, or -EPROTONOSUPPORT: "the agent speaks version 1 ..., and this operator version 2: ...". */
int wire_version_check(const struct jsn *message, const char *from, const char *to,
                       struct err *e) MUST_CHECK;
