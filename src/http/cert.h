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

/* A new self-signed authority (EC P-256, ten lifetimes). */
int cert_make_authority(const char *name, struct cert_pair *ret_pair, struct err *e) MUST_CHECK;
/* Its certificate made again from its key: what the old one signed the new one vouches for, and who
 * trusts the old one trusts what the new one signs. */
int cert_renew_authority(const char *name, const char *key_pem, struct cert_pair *ret_pair,
                         struct err *e) MUST_CHECK;

/* How long what an authority signs is good: a year.  SLURMKEEPER_CERT_LIFETIME_S in the environment
 * says otherwise, for tests and for those who want shorter ones. */
int64_t cert_lifetime_s(void);

/* What is wrong with a pair, as part of a sentence; NULL: both parse and belong together. */
const char *cert_pair_fault(const struct cert_pair *p);
/* Does a text hold a certificate, or a key?  NULL does not. */
bool cert_reads(const char *cert_pem);
bool cert_key_reads(const char *key_pem);

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

/* Is the certificate signed by this authority, good now and for another third of its life, and does
 * it cover all these names (may be NULL)? */
bool cert_still_good(const char *cert_pem, const char *authority_pem, const char *const *names);
