/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Metrics: slurmctld's own OpenMetrics pages (Slurm 25.11 and later) and the ServiceMonitor that
 * makes the Prometheus operator collect them.
 */
#include "src/api/metrics.h"

#define PROMETHEUS_DURATION                                                                        \
    "^(0|(([0-9]+)y)?(([0-9]+)w)?(([0-9]+)d)?(([0-9]+)h)?(([0-9]+)m)?(([0-9]+)s)?(([0-9]+)ms)?)$"

static const struct jsn_field endpoint_fields[] = {
    {"path", JSN_STR, offsetof(struct api_endpoint, path), JSN_REQ,
     .doc = "Path to collect from, such as /metrics/jobs."},
    {"interval", JSN_STR, offsetof(struct api_endpoint, interval), 0,
     .pattern = PROMETHEUS_DURATION, .doc = "How often to collect; the monitor's own if left out."},
    {"scrapeTimeout", JSN_STR, offsetof(struct api_endpoint, scrape_timeout), 0,
     .pattern = PROMETHEUS_DURATION,
     .doc = "When to give up collecting; the monitor's own if left out."},
    JSN_END,
};

static const struct jsn_field monitor_fields[] = {
    {"enabled", JSN_FLAG, offsetof(struct api_service_monitor, enabled), 0, .def = "false",
     .doc = "Whether to make a ServiceMonitor. Does nothing where the Prometheus operator is not "
            "installed."},
    {"labels", JSN_MAP, offsetof(struct api_service_monitor, labels), JSN_NULLABLE,
     .doc = "Labels of the ServiceMonitor, by which Prometheus selects it."},
    {"annotations", JSN_MAP, offsetof(struct api_service_monitor, annotations), JSN_NULLABLE,
     .doc = "Annotations of the ServiceMonitor."},
    {"interval", JSN_STR, offsetof(struct api_service_monitor, interval), 0,
     .pattern = PROMETHEUS_DURATION, .doc = "How often to collect, such as 30s."},
    {"scrapeTimeout", JSN_STR, offsetof(struct api_service_monitor, scrape_timeout), 0,
     .pattern = PROMETHEUS_DURATION, .doc = "When to give up collecting, such as 25s."},
    {"endpoints", JSN_SUBS, offsetof(struct api_service_monitor, endpoints), JSN_NULLABLE,
     .sub = endpoint_fields, .size = sizeof(struct api_endpoint),
     .doc = "What to collect; jobs, nodes, partitions and the scheduler if left out."},
    JSN_END,
};

const struct jsn_field api_metrics_fields[] = {
    {"enabled", JSN_FLAG, offsetof(struct api_metrics, enabled), 0, .def = "false",
     .doc = "Whether slurmctld serves metrics (MetricsType=metrics/openmetrics). Needs Slurm 25.11 "
            "or later."},
    {"serviceMonitor", JSN_SUB, offsetof(struct api_metrics, monitor), 0, .sub = monitor_fields,
     .size = sizeof(struct api_service_monitor),
     .doc = "A ServiceMonitor for the Prometheus operator."},
    JSN_END,
};
