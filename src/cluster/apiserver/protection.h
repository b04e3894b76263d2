/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Claims and volumes that are being deleted stay while something uses them. */
#pragma once

#include "src/cluster/apiserver/server.h"

struct protection;

struct protection *protection_new(struct apiserver *s);
struct protection *protection_free(struct protection *p);

/* At the start: look at everything that is on its way out already. */
int protection_start(struct protection *p, struct err *e) MUST_CHECK;

/* A committed change of anything; claims, volumes and pods matter here.  Writes of its own happen
 * in later turns. */
void protection_event(struct protection *p, const struct store_event *ev);
