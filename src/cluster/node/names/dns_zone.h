/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What names of the cluster mean; pure. */
#pragma once

#include "src/cluster/node/names/dns_message.h"
#include "src/cluster/node/network/directory.h"

struct dns_zone {
    const struct directory *directory;
    const char *domain; /* "cluster.local" */
    uint32_t base;      /* of the pods' addresses */
    unsigned int prefix;
    const char *machine;      /* the machine's own host name; NULL: it is not answered */
    uint32_t machine_address; /* where pods reach it */
    bool direct;              /* addresses of Services lead nowhere here: answer with their pods' */
};

enum dns_found {
    DNS_ANSWERED,
    DNS_NOTHING, /* the name is there and has no record of that type */
    DNS_UNKNOWN, /* ours, and not there */
    DNS_NOT_OURS
};

/* Add what the zone knows about the question to the answer. */
enum dns_found dns_zone_answer(const struct dns_zone *z, const struct dns_question *q,
                               struct dns_answer *a);
