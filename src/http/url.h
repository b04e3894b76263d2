/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The path and the query of a request, cut and decoded. */
#pragma once

#include "src/base/buf.h"

#define URL_MAX_SEGMENTS 32
#define URL_MAX_PARAMS 1024

/* {0} is empty.  Strings live in `text`. */
struct url_path {
    const char *segments[URL_MAX_SEGMENTS]; /* decoded, none empty */
    size_t n;
    bool trailing_slash;
    char *text;
};

/*
 * Cut a raw path ("/api/v1/pods") at its slashes and decode each segment.  -EINVAL with a sentence
 * for broken escapes, NULs, "." and "..", empty segments, escaped slashes, invalid UTF-8, and too
 * many segments: a name can never be mistaken for a path.
 */
int url_path_parse(const char *raw, struct url_path *ret_path, struct err *e) MUST_CHECK;
void url_path_done(struct url_path *p);
DEFINE_AUTO_DONE(struct url_path, url_path_done);

struct url_param {
    const char *key;
    const char *value;
};

/* {0} is empty.  Parameters stand in their order; keys may repeat. */
struct url_query {
    struct url_param *params;
    size_t n;
    char *text;
};

/* Parse a raw query ("a=b&c=d%20e"); a key without '=' has the value "". */
int url_query_parse(const char *raw, struct url_query *ret_query, struct err *e) MUST_CHECK;
void url_query_done(struct url_query *q);
DEFINE_AUTO_DONE(struct url_query, url_query_done);

/* The first value of a key, or NULL; and the i-th of several. */
const char *url_query_get(const struct url_query *q, const char *key);
const char *url_query_get_at(const struct url_query *q, const char *key, size_t i);

/* As Kubernetes reads it: absence, "false" (any case) and "0" are false, everything else is true.
 */
bool url_query_bool(const struct url_query *q, const char *key);
/* A decimal number; `otherwise` when the key is absent or empty. */
int url_query_i64(const struct url_query *q, const char *key, int64_t otherwise, int64_t *ret_value,
                  struct err *e) MUST_CHECK;
