/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Forms of names, keys and values, each with the sentences Kubernetes has for it. */
#pragma once

#include "src/base/str.h"

enum name_form {
    FORM_DNS_LABEL,          /* "my-name", at most 63 */
    FORM_DNS_SUBDOMAIN,      /* "a.example.com", at most 253 */
    FORM_DNS1035_LABEL,      /* a DNS label that begins with a letter */
    FORM_WILDCARD_SUBDOMAIN, /* "*.example.com" */
    FORM_PATH_SEGMENT,       /* anything that can stand in a URL path */
    FORM_QUALIFIED,          /* "example.com/MyName": label and annotation keys, finalizers */
    FORM_LABEL_VALUE,
    FORM_ENV_NAME,
    FORM_C_IDENTIFIER,
    FORM_CONFIG_KEY, /* keys of ConfigMaps and Secrets */
    FORM_PORT_NAME,
    FORM_HTTP_HEADER,
    FORM_PERCENT,
    FORM_IP,
    FORM_IPV4,
};

/* What is wrong with one value; the sentences are static.  n == 0: nothing. */
struct name_faults {
    const char *text[4];
    size_t n;
};

struct name_faults names_check(enum name_form form, struct str value);

/* Is it good?  For code that does not need to say why not. */
bool names_good(enum name_form form, const char *value);
