/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Services and external daemons: tables of both.
 *
 * The ServiceSpec is kept as it was written and merged over ours in src/build; external addresses
 * in it are dropped there, since they let one namespace take over the traffic of another.
 */
#include "src/api/service.h"

const struct jsn_field api_service_fields[] = {
    {"metadata", JSN_SUB, offsetof(struct api_service, metadata), 0, .sub = api_labels_fields,
     .size = sizeof(struct api_labels), .doc = "Labels and annotations of the Service."},
    {"spec", JSN_RAW, offsetof(struct api_service, spec), 0,
     .doc = "A ServiceSpec that is merged over the one that is made. externalIPs is ignored."},
    {"port", JSN_I32, offsetof(struct api_service, port), JSN_HAS_MIN | JSN_HAS_MAX, .min = 0,
     .max = 65535, .doc = "Port of the Service; the daemon's own port if 0 or left out."},
    {"nodePort", JSN_I32, offsetof(struct api_service, node_port), JSN_HAS_MIN | JSN_HAS_MAX,
     .min = 0, .max = 65535,
     .doc = "Port on every node, where the Service's type is NodePort or LoadBalancer."},
    JSN_END,
};

const struct jsn_field api_external_fields[] = {
    {"host", JSN_STR, offsetof(struct api_external, host), JSN_REQ,
     .doc = "Host name or address of the daemon."},
    {"port", JSN_I32, offsetof(struct api_external, port), JSN_REQ | JSN_HAS_MIN | JSN_HAS_MAX,
     .min = 1, .max = 65535, .doc = "Port of the daemon."},
    JSN_END,
};
