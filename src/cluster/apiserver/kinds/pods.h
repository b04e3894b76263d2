/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pods: between the file of the kind and the one of its admission. */
#pragma once

#include "src/cluster/apiserver/status.h"

/* Fill in what others decide about a new pod; fails the call where they refuse it. */
int pods_admit(struct api_call *c, struct jsn *pod);
