/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The schedules of cron jobs. */
#pragma once

#include "src/base/arena.h"

/* NULL if the schedule is good, else a sentence (in the arena) about what is wrong with it. */
const char *cron_check(struct arena *a, const char *schedule);
