/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The head of an HTTP/1.1 request: request line, header fields, and how the body is framed. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "src/base/str.h"

#define HTTP_MAX_HEADERS 128

struct http_header {
    const char *name; /* as sent */
    const char *value;
};

/* {0} is empty.  All strings live in `text`. */
struct http_head {
    char *text;
    const char *method;
    const char *path;  /* raw; begins with '/' */
    const char *query; /* raw, without '?' */
    struct http_header *headers;
    size_t n_headers;
    unsigned int minor; /* of the version: 1 for HTTP/1.1 */
    bool keep_alive;
    bool expect_continue;
    bool chunked;
    bool has_length;
    uint64_t length; /* of the body, if has_length */
};

void http_head_done(struct http_head *h);
DEFINE_AUTO_DONE(struct http_head, http_head_done);

/*
 * Where the head that `text` begins with ends (after its empty line), or 0 if it has not ended
 * yet.  The first `seen` bytes are known to hold no end.
 */
size_t http_head_end(struct str text, size_t seen);

/*
 * Parse a whole head, its empty line included.  Returns 0, or the status code to refuse it with;
 * *ret_why then says why.  Whatever two servers could read differently is refused.
 */
int http_head_parse(struct str text, struct http_head *ret_head, const char **ret_why) MUST_CHECK;

/* The i-th header of that name (any case), or NULL. */
const char *http_head_get(const struct http_head *h, const char *name, size_t i);

/* Does any header of that name hold the token in its comma-separated list (any case)? */
bool http_head_lists(const struct http_head *h, const char *name, const char *token);
