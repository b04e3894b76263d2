/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whom a probe or a hook turns to, and with which words; pure. */
#pragma once

#include "src/cluster/node/pods/pod_spec.h"

struct handler_request {
    const char *url;
    const char *const *headers; /* "Name: value", NULL-terminated */
};

/* A port by number or name; 0: there is none of that name. */
uint16_t handler_port(const struct ctr_spec *c, const struct jsn *port);
/* The host that is named, or the pod's own address. */
const char *handler_host(const struct jsn *action, const char *pod_ip);

/* An httpGet action, in `a`. */
int handler_request_of(struct arena *a, const struct ctr_spec *c, const struct jsn *action,
                       const char *pod_ip, struct handler_request *ret, struct err *e) MUST_CHECK;
/* Is this what a container that is well answers? */
bool handler_status_ok(int status);
