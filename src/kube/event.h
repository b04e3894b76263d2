/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Events about objects, for kubectl describe: aggregated, counted, bounded. */
#pragma once

#include "src/kube/client.h"

struct kube_recorder;

enum kube_event_type { KUBE_EVENT_NORMAL, KUBE_EVENT_WARNING };

/* What an event is about.  NULL where not known. */
struct kube_reference {
    const char *api_version;
    const char *kind;
    const char *namespace; /* NULL for cluster-wide kinds: their events stand in "default" */
    const char *name;
    const char *uid;
    const char *version;    /* metadata.resourceVersion */
    const char *field_path; /* "spec.containers{slurmd}" */
};

/* `component` is who says it; `host` may be NULL.  Both are copied.  The client must outlive it. */
struct kube_recorder *kube_recorder_new(struct kube_client *c, const char *component,
                                        const char *host);
/* What has not been sent is dropped. */
struct kube_recorder *kube_recorder_free(struct kube_recorder *r);
DEFINE_AUTO(struct kube_recorder, kube_recorder_free);

/*
 * Say that something happened.  `reason` is one CamelCase word.  Never fails and never waits: an
 * event that equals an earlier one raises its count; many different messages of a reason become
 * one; an object with too many events loses some; what the server cannot take for two minutes is
 * dropped.
 */
void kube_recorder_emit(struct kube_recorder *r, const struct kube_reference *about,
                        enum kube_event_type type, const char *reason, const char *fmt, ...)
    PRINTF(5, 6);

/* How many events are still to be sent. */
size_t kube_recorder_pending(const struct kube_recorder *r);
/* How many were dropped, for metrics. */
size_t kube_recorder_dropped(const struct kube_recorder *r);
