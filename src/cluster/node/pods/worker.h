/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A pod on this machine, looked after from its first sight to its last trace. */
#pragma once

#include "src/cluster/node/network/sandbox.h"
#include "src/cluster/node/node_private.h"
#include "src/cluster/node/pods/container.h"
#include "src/cluster/node/pods/status_writer.h"
#include "src/cluster/node/volumes/volumes.h"

struct worker {
    struct node *node;
    struct arena arena;        /* of what containers are, which never changes */
    struct arena object_arena; /* of the object as it was last seen */
    struct pod_spec *spec;
    const struct jsn *api_status; /* as the API has it; in object_arena */
    char *uid;
    char *dir;
    struct sandbox *sandbox;
    struct container *ctrs;
    size_t n;
    bool volumes;
    bool initialized;
    bool missing;     /* the API seems not to have it: to be judged (strangers.c) */
    bool unknown;     /* the API does not know it, and it is kept */
    bool object_gone; /* the API has it no more */
    bool released;
    bool deletion_sent;
    bool host_image_told;
    bool refused; /* does not fit: never started */
    enum pod_outcome outcome;
    char *reason;
    char *message;
    int64_t start_us;
    int64_t stop_ms;      /* when it must have ended, monotonic; 0: nobody said */
    int64_t retry_ms;     /* of volumes and sandbox: not before */
    unsigned int trouble; /* how often in a row they failed */
    struct loop_source *timer;
    int64_t wake_ms; /* when the timer fires; 0: nothing in particular */
    struct job *removal;
    struct kube_call *deletion;
    struct status_writer *writer;
    char last_ip[IPAM_TEXT];
    bool queued;
    bool dead;
};

/* A new pod: its directory is made and its object written there. */
struct worker *worker_new(struct node *n, const struct kube_object *o, struct err *e);
/* One that is on disk from an earlier life; its object may be gone from the API. */
struct worker *worker_adopt(struct node *n, const char *uid, struct err *e);
/* One that runs, and whose object is taken from the API since its record is damaged. */
struct worker *worker_take_over(struct node *n, const struct kube_object *o, struct err *e);
/* Lets go: whatever runs stays. */
struct worker *worker_free(struct worker *w);

/* The API has another version. */
void worker_update(struct worker *w, const struct kube_object *o);
/* The API does not know it, or knows it again; on disk before this returns. */
void worker_set_unknown(struct worker *w, bool unknown);
/* The API has it no more. */
void worker_object_gone(struct worker *w);
/* A ConfigMap or Secret has changed: volumes that use it are written again. */
void worker_config_changed(struct worker *w, const char *plural, const char *ns, const char *name);
/* Service account tokens were fetched. */
void worker_refresh_volumes(struct worker *w);

/* Something has happened: look at everything at the end of the turn. */
void worker_wake(struct worker *w);
/* Look at that time at the latest. */
void worker_wake_at(struct worker *w, int64_t when_ms);

/* Fill in what volumes and environments need to know; the context borrows from `w`. */
void worker_fields(const struct worker *w, struct field_context *ret);
void worker_volumes(struct worker *w, const struct field_context *fields,
                    struct volumes_context *ret);
