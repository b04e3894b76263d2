/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which part of a list is asked for, and at which version. */
#pragma once

#include "src/cluster/apiserver/call.h"

struct page {
    int64_t limit;   /* 0: no limit */
    int64_t version; /* shown; the state at which the list is taken */
    int64_t at;      /* of the store: 0 for now */
    const char *after_ns;
    const char *after_name;
};

/* From the query; fails the call. */
int page_read(struct api_call *c, struct page *p);
/* A token to go on with after this key; in the arena. */
const char *page_token(struct arena *a, int64_t version, const char *ns, const char *name);
/* The store could not read the page: fails the call, with 410 where the past is compacted. */
int page_fail(struct api_call *c, const struct page *p, int r, const struct err *e);
