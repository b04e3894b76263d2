/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The life of CustomResourceDefinitions inside the API server. */
#pragma once

#include "src/cluster/apiserver/server.h"

struct crd_controller;

struct crd_controller *crd_controller_new(struct apiserver *s);
struct crd_controller *crd_controller_free(struct crd_controller *c);

/* At the start, before requests: serve every established definition in the store. */
int crd_controller_start(struct crd_controller *c, struct err *e) MUST_CHECK;

/* A committed change of anything; definitions and the ends of their instances matter here.  Writes
 * of its own happen in later turns (workset.h). */
void crd_controller_event(struct crd_controller *c, const struct store_event *ev);

/* Is the definition of this custom resource being deleted? */
bool crd_controller_ending(const struct crd_controller *c, const struct resource *res);
