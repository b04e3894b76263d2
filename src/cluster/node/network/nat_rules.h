/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Addresses of Services as rules for nft; pure. */
#pragma once

#include "src/cluster/node/network/directory.h"

struct nat_place {
    const char *table;       /* "slurmkeeper-default" */
    const char *bridge;      /* interface */
    const char *cidr;        /* of the pods */
    const char *services;    /* the range of Services' addresses */
    bool services_elsewhere; /* the machine has a network of its own in that range */
};

/* A script for `nft -f -` that replaces the whole table at once. */
void nat_rules_print(struct buf *b, const struct directory *d, const struct nat_place *p);
/* One that removes it. */
void nat_rules_print_removal(struct buf *b, const char *table);
