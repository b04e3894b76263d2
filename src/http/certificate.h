/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A self-signed certificate for a server whose clients know it in advance. */
#pragma once

#include "src/base/cleanup.h"
#include "src/base/err.h"

/* Both PEM, both owned. */
struct http_certificate {
    char *cert_pem;
    char *key_pem;
};
void http_certificate_done(struct http_certificate *c);
DEFINE_AUTO_DONE(struct http_certificate, http_certificate_done);

/* A new key (EC P-256) and a certificate of ten years for that DNS name; it signs no others. */
int http_certificate_make(const char *dns_name, struct http_certificate *ret,
                          struct err *e) MUST_CHECK;
