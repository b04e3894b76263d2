/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The pod that a StatefulSet makes. */
#pragma once

#include "src/json/jsn.h"

/* Its first pod, with the volumes of its claims, but without what the API server adds; in `a`. */
struct jsn *build_set_pod(struct arena *a, const struct jsn *set);
