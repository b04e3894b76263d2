/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hostPath volumes: what must be there, and what is made. */
#pragma once

#include "src/json/jsn.h"

/* Check, or make, as the `type` of the hostPath says.  In one of the shares (NULL-terminated, or
 * NULL) nothing is made through a link that leads out of it. */
int hostpath_check(const struct jsn *host_path, char *const *shares, struct err *e) MUST_CHECK;
