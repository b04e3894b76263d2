/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which store the node has followed last, and how far: kept with the pods' records. */
#pragma once

#include <stdint.h>

#include "src/base/str.h"
#include "src/json/jsn.h"

/* {0} is: none yet. */
struct seen {
    char *store;     /* uid of kube-system, and the epoch of the store where it tells one */
    int64_t version; /* the newest that was seen of it */
};

void seen_done(struct seen *s);
DEFINE_AUTO_DONE(struct seen, seen_done);

/* A list of namespaces that holds kube-system.  -ENOENT: it does not. */
int seen_of_namespaces(const struct jsn *list, struct seen *ret, struct err *e) MUST_CHECK;

/* Nothing that can be read is {0}. */
void seen_load(const char *path, struct seen *ret);
int seen_save(const char *path, const struct seen *s, struct err *e) MUST_CHECK;

enum seen_verdict {
    SEEN_SAME,  /* the store goes on: a pod that it does not have was deleted */
    SEEN_OLDER, /* the same store, from before what was seen */
    SEEN_OTHER, /* restored, recovered, or another cluster's */
    SEEN_NEVER, /* nobody has noted what ran before */
};

/* Pure. */
enum seen_verdict seen_judge(const struct seen *before, const struct seen *now);
/* "an older state of the store", for people. */
const char *seen_text(enum seen_verdict v);
