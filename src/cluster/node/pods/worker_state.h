/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a worker keeps on disk, and how it takes in the API's object. */
#pragma once

#include "src/cluster/node/pods/worker.h"

/* Take in a version of the pod.  The first one says what its containers are, for good. */
int worker_state_load_object(struct worker *w, struct str text, struct err *e) MUST_CHECK;
int worker_state_save_object(struct worker *w, struct str text, struct err *e) MUST_CHECK;

/* From disk: the object and what was decided about the pod. */
int worker_state_load(struct worker *w, struct err *e) MUST_CHECK;
/* What was decided; a failure is logged. */
void worker_state_save(struct worker *w);
