/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Is there room for a pod when the one whose place it takes has gone? */
#pragma once

#include <stdbool.h>

/*
 * Of a refusal by the API server, where both pods are of one size: true if it is a quota that is
 * full and not more than full, so that what goes makes the room.  A sentence that cannot be read
 * says no.
 */
bool room_will_be(const char *refusal);
