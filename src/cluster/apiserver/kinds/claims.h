/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Persistent volume claims and volumes: what they share, and who uses a claim. */
#pragma once

#include "src/cluster/apiserver/place.h"

struct api_call;

#define CLAIM_FINALIZER "kubernetes.io/pvc-protection"
#define VOLUME_FINALIZER "kubernetes.io/pv-protection"

void claims_add_finalizer(struct arena *a, struct jsn *object, const char *name);
void claims_drop_finalizer(struct jsn *object, const char *name);

/* Is there a pod that has not ended and mounts the claim?  A failure has failed the call. */
int claims_find_user(struct api_call *c, const struct jsn *claim, bool *ret_used) MUST_CHECK;

/* accessModes and volumeMode of a claim's or volume's spec. */
void claims_check_modes(struct causes *cs, const struct place *spec, const char *why);
