/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One kubeconfig text to its entries; for config.c alone. */
#pragma once

#include "src/kube/config.h"

/* Fill `c`, which is empty.  On failure the caller empties it; errors name the field. */
int config_decode(const char *file, struct str text, struct kube_config *c,
                  struct err *e) MUST_CHECK;
