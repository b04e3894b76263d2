/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Routes: what a URL path of the API names. */
#pragma once

#include "src/base/arena.h"

enum route_kind {
    ROUTE_NONE,        /* nothing here: 404 in plain text */
    ROUTE_RESOURCE,    /* a resource path; the parts are set */
    ROUTE_HEALTH,      /* /livez /readyz /healthz, with the name of one check after it */
    ROUTE_VERSION,     /* /version */
    ROUTE_METRICS,     /* /metrics */
    ROUTE_ROOT,        /* / */
    ROUTE_API,         /* /api */
    ROUTE_APIS,        /* /apis */
    ROUTE_GROUP,       /* /apis/GROUP */
    ROUTE_GV,          /* /api/v1, /apis/GROUP/VERSION */
    ROUTE_OPENAPI2,    /* /openapi/v2, /swagger-2.0.0.pb-v1 */
    ROUTE_OPENAPI3,    /* /openapi/v3 */
    ROUTE_OPENAPI3_GV, /* /openapi/v3/api/v1, /openapi/v3/apis/GROUP/VERSION */
};

/* Parts are decoded, terminated, and "" where absent. */
struct route {
    enum route_kind kind;
    const char *group;
    const char *version;
    const char *resource; /* plural */
    const char *ns;
    bool ns_given; /* the path has a namespaces/NS part */
    const char *name;
    const char *sub;   /* first subresource segment */
    const char *rest;  /* what stands after it, joined by '/': the path of a proxy call */
    bool legacy_watch; /* /api/v1/watch/... */
};

/*
 * Parse a raw path.  Fails (-EINVAL) on broken percent encoding, bytes that are no UTF-8, NULs, and
 * "." or ".." segments, which no object can be named.
 */
int route_parse(struct arena *a, const char *path, struct route *ret_route,
                struct err *e) MUST_CHECK;
