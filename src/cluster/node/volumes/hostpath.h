/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hostPath volumes: what must be there, and what is made. */
#pragma once

#include "src/json/jsn.h"

/* Check, or make, as the `type` of the hostPath says. */
int hostpath_check(const struct jsn *host_path, struct err *e) MUST_CHECK;
