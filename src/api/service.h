/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How a daemon is reached: the Service made for it, or the place where it runs outside. */
#pragma once

#include "src/api/template.h"

struct api_service {
    struct api_labels metadata;
    const struct jsn *spec; /* a ServiceSpec, as written; NULL: none */
    int32_t port;           /* 0: the daemon's own */
    int32_t node_port;      /* 0: none */
};

/* A daemon that runs elsewhere. */
struct api_external {
    const char *host;
    int32_t port;
};

extern const struct jsn_field api_service_fields[];
extern const struct jsn_field api_external_fields[];
