/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the operator counts about itself, and where others read it: /healthz, /readyz, /metrics. */
#pragma once

#include "src/http/prometheus.h"
#include "src/kube/failure.h"
#include "src/loop/loop.h"
#include "src/plan/action.h"

struct metrics;

/* Asked at each visit; `why` (at least 160 bytes) gets a sentence where the answer is no. */
struct metrics_source {
    bool (*ready)(void *arg, char *why, size_t n);
    void (*gauges)(void *arg); /* sets gauges before they are printed */
    void *arg;
};

/* `address` NULL: counted, but not served. */
int metrics_new(struct loop *l, const char *address, const struct metrics_source *s,
                struct metrics **ret_metrics, struct err *e) MUST_CHECK;
struct metrics *metrics_free(struct metrics *m);
DEFINE_AUTO(struct metrics, metrics_free);
int metrics_port(const struct metrics *m);

void metrics_reconciled(struct metrics *m, const char *kind, const char *result, double seconds);
void metrics_wrote(struct metrics *m, const struct action *a, const struct kube_failure *f);
void metrics_queue(struct metrics *m, size_t waiting, size_t running);
void metrics_objects(struct metrics *m, const char *kind, size_t n);
void metrics_cache_bytes(struct metrics *m, size_t bytes);
void metrics_leads(struct metrics *m, bool leads);
void metrics_agents(struct metrics *m, size_t linked, size_t known);
