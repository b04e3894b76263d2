/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a plan says about its object: conditions, and the write of a status that differs. */
#pragma once

#include "src/api/condition.h"
#include "src/api/meta.h"
#include "src/plan/action.h"

/* Where conditions of one object are gathered. */
struct status_scribe {
    struct actions *to;
    struct api_conditions *conditions; /* of the status to be written */
    int64_t generation;
    int64_t now_us;
};

enum status_value { STATUS_FALSE, STATUS_TRUE, STATUS_UNKNOWN };

/*
 * Set a condition.  `warn`: if its status or reason was another before, a Warning event of that
 * reason says the same, so that whoever looks at events sees it once.
 */
void status_set(struct status_scribe *s, const char *type, enum status_value value, bool warn,
                const char *reason, const char *fmt, ...) PRINTF(6, 7);

/* A condition that was there is Unknown now (reason SlurmUnknown); one that was not stays away. */
void status_unknown(struct status_scribe *s, const char *type, const char *why);

/*
 * Look again, because nothing else may tell: soon after the condition has got its status, and ever
 * more seldom.  It must be there.
 */
#define STATUS_LOOK_AGAIN_US 250000
/* While configurations are on their way to slurmctld, what waits for one of them is not told before
 * this. */
#define STATUS_PATIENCE_US 2000000
void status_look_again(struct status_scribe *s, const char *type);

/* Plan the write that turns the status at hand (NULL: none) into the one wanted; nothing if they
 * are equal. */
void status_write(struct actions *to, const char *kind, const struct api_meta *m,
                  const struct jsn *observed, const struct jsn *wanted);
