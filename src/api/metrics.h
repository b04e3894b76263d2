/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What Prometheus may collect from slurmctld. */
#pragma once

#include "src/json/fields.h"

struct api_endpoint {
    const char *path;
    const char *interval;
    const char *scrape_timeout;
};

struct api_endpoints {
    struct api_endpoint *items;
    size_t n;
};

struct api_service_monitor {
    bool enabled;
    struct jsn_map labels;
    struct jsn_map annotations;
    const char *interval;
    const char *scrape_timeout;
    struct api_endpoints endpoints;
};

struct api_metrics {
    bool enabled;
    struct api_service_monitor monitor;
};

extern const struct jsn_field api_metrics_fields[];
