/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The service account token of a pod. */
#pragma once

#include "src/json/jsn.h"

/* Give every container the token directory, unless the pod or its account (may be NULL) declines. */
void pod_mount_token(struct arena *a, struct jsn *spec, const struct jsn *account);
