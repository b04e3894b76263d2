/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where and how a request is sent: method, URL, content type; and what to call it. */
#pragma once

#include "src/kube/client.h"

/* The URL of a request below `server`.  -EINVAL for names that are no path segment. */
int address_url(const char *server, const struct kube_request *r, const char *field_manager,
                struct buf *url, struct err *e) MUST_CHECK;

const char *address_method(enum kube_verb verb);
/* A whole header line, or NULL for calls without a body. */
const char *address_content_type(enum kube_verb verb);

/* For the beginning of errors: "get pods 'ns/name'".  Owned. */
char *address_describe(const struct kube_request *r);
