/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Certificates: an own authority and what it signs, and those that sign for themselves. */
#pragma once

#include <stdbool.h>

#include "src/base/err.h"

/* A key and its certificate, both PEM; owned.  The key is wiped when it goes. */
struct cert_pair {
    char *cert_pem;
    char *key_pem;
};
void cert_pair_done(struct cert_pair *p);
DEFINE_AUTO_DONE(struct cert_pair, cert_pair_done);

/* A new self-signed authority (EC P-256, ten years). */
int cert_make_authority(const char *name, struct cert_pair *ret_pair, struct err *e) MUST_CHECK;

struct cert_request {
    const char *common_name;
    const char *organisation; /* NULL: none */
    const char *const *names; /* DNS names and IP addresses of a server, NULL-terminated; NULL: a
                                 client certificate */
};

/* A new key with a certificate signed by the authority. */
int cert_make(const struct cert_pair *authority, const struct cert_request *q,
              struct cert_pair *ret_pair, struct err *e) MUST_CHECK;

/* A new key with a certificate for that DNS name which signs for itself, and for no others. */
int cert_make_own(const char *dns_name, struct cert_pair *ret_pair, struct err *e) MUST_CHECK;

/* Is the certificate signed by this authority, good for another 30 days, and does it cover all
 * these names (may be NULL)? */
bool cert_still_good(const char *cert_pem, const char *authority_pem, const char *const *names);
