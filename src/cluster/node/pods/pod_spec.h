/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A pod as the node needs it: decoded once from its object, read by everything pure. */
#pragma once

#include "src/json/jsn.h"

enum ctr_kind {
    CTR_INIT,    /* runs to its end before what follows */
    CTR_SIDECAR, /* an init container that stays: restartPolicy Always */
    CTR_MAIN,
};

enum restart_policy { RESTART_ALWAYS, RESTART_ON_FAILURE, RESTART_NEVER };

enum handler_kind {
    HANDLER_NONE,
    HANDLER_EXEC,
    HANDLER_HTTP,
    HANDLER_TCP,
    HANDLER_SLEEP,
    HANDLER_GRPC
};

/* Something to do to a container: a probe's or a hook's act. */
struct handler_spec {
    enum handler_kind kind;
    const struct jsn *json; /* the value of exec, httpGet, tcpSocket, sleep or grpc */
};

struct probe_spec {
    struct handler_spec handler;
    int64_t delay_s;
    int64_t period_s;
    int64_t timeout_s;
    int64_t successes;
    int64_t failures;
    int64_t grace_s; /* -1: the pod's */
};

struct ctr_spec {
    const char *name;
    const char *image;
    enum ctr_kind kind;
    const struct jsn *json;
    struct probe_spec liveness;
    struct probe_spec readiness;
    struct probe_spec startup;
    struct handler_spec post_start;
    struct handler_spec pre_stop;
    int stop_signal;
    bool tty;
    bool stdin_open;
    bool stdin_once;
    const char *message_path;
    bool message_from_logs; /* where the file is empty and the container failed */
};

/* Lives in the arena it was decoded into, with the object. */
struct pod_spec {
    const struct jsn *json; /* the whole object */
    const char *ns;
    const char *name;
    const char *uid;
    const char *node;
    const char *host_name; /* spec.hostname, or the name cut to 63 */
    const char *subdomain; /* or NULL */
    struct ctr_spec *ctrs; /* init containers first, in their order, then the main ones */
    size_t n;
    size_t n_init;
    enum restart_policy restart;
    int64_t grace_s;
    int64_t deadline_s; /* -1: none */
    bool host_network;
    bool host_pid;
    bool host_ipc;
    bool share_pid;
    bool deleting;
    int64_t delete_grace_s;
};

/* Decode a pod object, which must outlive the result; both are in `a`, as a rule. */
int pod_spec_decode(struct arena *a, const struct jsn *pod, struct pod_spec **ret_spec,
                    struct err *e) MUST_CHECK;

/* The index of a container, or -1. */
int pod_spec_find(const struct pod_spec *p, const char *container);

/* "Guaranteed", "Burstable" or "BestEffort". */
const char *pod_spec_qos(const struct pod_spec *p);
