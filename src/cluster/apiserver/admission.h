/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Admission: what depends on other objects, and on whoever registered to have a say. */
#pragma once

#include "src/cluster/apiserver/call.h"

/* Each fails the call if the write may not happen.  Objects are in stored form. */
int admission_create(struct api_call *c, struct jsn *object);
int admission_update(struct api_call *c, struct jsn *object, const struct jsn *old);
