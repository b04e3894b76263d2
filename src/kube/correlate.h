/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which occurrences are one event, and which are too many: client-go's rules, but for one; pure. */
#pragma once

#include "src/kube/event.h"
#include "src/kube/lru.h"

#define CORRELATE_MAX_REMEMBERED 4096
#define CORRELATE_SIMILAR_MAX 10
#define CORRELATE_SIMILAR_MS 600000
#define CORRELATE_SPAM_BURST 25
#define CORRELATE_SPAM_PER_SECOND (1.0 / 300)

struct correlator {
    struct lru similar; /* by source, object, type and reason: struct similar */
    struct lru spam;    /* by source, object and type: struct spam */
};

void correlator_init(struct correlator *c);
void correlator_done(struct correlator *c);

/* What happened. */
struct occurrence {
    const char *component;
    const char *host;
    const struct kube_reference *about;
    enum kube_event_type type;
    const char *reason;
    const char *message;
};

/*
 * Which event an occurrence belongs to: *ret_key names it, *ret_message is what it says (both
 * owned).  From the tenth different message of one reason within ten minutes on, all of them are
 * one event.
 */
void correlate_key(struct correlator *c, const struct occurrence *o, int64_t now_ms, char **ret_key,
                   char **ret_message);

/*
 * May it be sent?  An object has 25 events at once, and one more every five minutes; warnings and
 * others apart, unlike in client-go: what went well must not use up what a warning needs.
 */
bool correlate_admits(struct correlator *c, const struct occurrence *o, int64_t now_ms);
