/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What conditions of our objects say is wrong. */
#pragma once

#include "src/json/jsn.h"

/*
 * Append a sentence for each condition of the object that tells of something wrong to the array
 * `list`, in `a`.  What only takes its time to start is left out, unless `impatient`.
 */
void trouble_conditions(struct arena *a, const char *kind, const struct jsn *object, int64_t now_us,
                        bool impatient, struct jsn *list);

/* "Partition default/debug: what"; a line that is there already is not added again. */
void trouble_say(struct arena *a, struct jsn *list, const char *kind, const struct jsn *object,
                 const char *what);
