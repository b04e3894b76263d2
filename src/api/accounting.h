/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of the kind Accounting that a Controller's configuration needs: where slurmdbd is. */
#pragma once

#include "src/api/meta.h"
#include "src/api/service.h"

#define ACCOUNTING_PORT 6819

struct accounting {
    struct api_meta meta;
    bool external;
    const struct api_external *external_config;
    struct api_service service;
};

/* Decode into `a`; nothing points into v.  The error names the field. */
int accounting_decode(struct arena *a, const struct jsn *v, struct accounting *ret,
                      struct err *e) MUST_CHECK;

/* Where slurmdbd answers: its Service, or wherever an external one is.  In `a`. */
const char *accounting_host(struct arena *a, const struct accounting *acct);
int32_t accounting_port(const struct accounting *acct);
