/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The plan for an object that cannot be planned for: its Ready condition says why. */
#pragma once

#include "src/plan/action.h"

/* `kind` is Controller, NodeSet or Partition; `object` as the API has it, decodable or not. */
void plan_failure(const char *kind, const struct jsn *object, const char *reason, const char *why,
                  int64_t now_us, struct actions *to);
