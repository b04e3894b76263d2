/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Media types with parameters, as Accept and Content-Type name them. */
#pragma once

#include "src/base/str.h"

#define MEDIA_MAX_RANGES 32
#define MEDIA_MAX_PARAMS 8

struct media_param {
    struct str name; /* compare without regard to case */
    struct str value;
};

/* One media type, or a range of them ("text" and "*").  Views into the parsed text. */
struct media_range {
    struct str text; /* the whole element as it stands, without its q */
    struct str type;
    struct str subtype;
    struct media_param params[MEDIA_MAX_PARAMS]; /* without q */
    size_t n_params;
    unsigned int q; /* 0 to 1000 */
};

/* What a client accepts, best first; equal ones in the order in which they were named. */
struct media_accept {
    struct media_range ranges[MEDIA_MAX_RANGES];
    size_t n;
};

/*
 * Parse an Accept header; NULL or blank stands for any type.  Elements that are malformed, or have
 * q=0, are left out; -EINVAL only if there are more than MEDIA_MAX_RANGES.  The text must outlive
 * the result.
 */
int media_accept_parse(const char *header, struct media_accept *ret_accept) MUST_CHECK;

/* Parse one media type, such as a Content-Type; -EINVAL if it is none. */
int media_type_parse(struct str text, struct media_range *ret_type) MUST_CHECK;

/* The value of a parameter, or {NULL, 0}. */
struct str media_param(const struct media_range *r, const char *name);

/* Does the range take in this type ("application/json"), whatever its parameters? */
bool media_range_covers(const struct media_range *r, const char *type);

/* Is the type this one, by name, and not by a star? */
bool media_range_is(const struct media_range *r, const char *type);
