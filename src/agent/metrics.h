/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the agent counts, for Prometheus. */
#pragma once

#include "src/agent/hub.h"
#include "src/http/prometheus.h"

struct metrics;

/* The hub and the link are borrowed; they may be set later than they are made. */
struct metrics *metrics_new(void);
struct metrics *metrics_free(struct metrics *m);
DEFINE_AUTO(struct metrics, metrics_free);
void metrics_watch(struct metrics *m, const struct hub *hub, struct link *link);

/* A declaration has ended so ("applied", "refused"), in the class it needed ("rpc", "restart"). */
void metrics_push(struct metrics *m, const char *result, const char *class, double seconds);
/* One of its steps has taken so long. */
void metrics_step(struct metrics *m, const char *step, double seconds);
/* So many settings are not as declared now. */
void metrics_drift(struct metrics *m, size_t fields);
/* A request was answered. */
void metrics_request(struct metrics *m, const char *route, int status);

/* Append everything in Prometheus' text format. */
void metrics_print(struct metrics *m, struct buf *into);
