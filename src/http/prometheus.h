/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Metrics: counters, gauges and histograms with labels, printed as Prometheus reads them. */
#pragma once

#include "src/base/buf.h"
#include "src/loop/loop.h"

#define PROMETHEUS_CONTENT_TYPE "text/plain; version=0.0.4; charset=utf-8"
#define PROMETHEUS_MAX_SERIES 4096 /* of one metric; more share one series named "overflow" */

struct prometheus;        /* a registry */
struct prometheus_metric; /* lives as long as its registry */
struct prometheus_series; /* one combination of label values; lives until it is forgotten */

struct prometheus *prometheus_new(void);
struct prometheus *prometheus_free(struct prometheus *p);
DEFINE_AUTO(struct prometheus, prometheus_free);

/*
 * Make a metric.  `labels` names its labels, separated by commas ("verb,code"), or is NULL.  Names
 * must be valid and used once: anything else is a programmer's error and aborts.
 */
struct prometheus_metric *prometheus_counter(struct prometheus *p, const char *name,
                                             const char *help, const char *labels);
struct prometheus_metric *prometheus_gauge(struct prometheus *p, const char *name, const char *help,
                                           const char *labels);
/* bounds: rising upper bounds of the buckets, without infinity. */
struct prometheus_metric *prometheus_histogram(struct prometheus *p, const char *name,
                                               const char *help, const char *labels,
                                               const double *bounds, size_t n_bounds);
/* For durations in seconds: 0.5 ms to 60 s. */
extern const double prometheus_seconds[];
extern const size_t prometheus_n_seconds;

/* The series with these label values, in the order of the names; made on first use. */
#define PROMETHEUS_LABELS(...) ((const char *const[]){__VA_ARGS__})
struct prometheus_series *prometheus_series(struct prometheus_metric *m, const char *const *values);

void prometheus_add(struct prometheus_series *s, double v);     /* counter (v >= 0), gauge */
void prometheus_set(struct prometheus_series *s, double v);     /* gauge */
void prometheus_observe(struct prometheus_series *s, double v); /* histogram */

/* fn runs before each print, to set gauges that are cheaper to read than to keep. */
void prometheus_on_print(struct prometheus *p, loop_defer_fn fn, void *arg);

void prometheus_print(struct prometheus *p, struct buf *into);
