/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which address a pod has: a range, and who holds what of it. */
#pragma once

#include <stdint.h>

#include "src/base/map.h"

/* {0} is not valid: ipam_init. */
struct ipam {
    uint32_t base;       /* of the range, host byte order */
    unsigned int prefix; /* 8 to 28 */
    uint32_t next;       /* where to look first: addresses are not reused at once */
    struct map by_owner; /* owner -> struct ipam_lease, owned */
    struct map by_address;
};

struct ipam_lease {
    char *owner;
    uint32_t address;
};

#define IPAM_TEXT 16

/* "10.131.0.0/16"; host bits must be zero. */
int ipam_parse(struct str cidr, uint32_t *ret_base, unsigned int *ret_prefix,
               struct err *e) MUST_CHECK;
void ipam_print(uint32_t address, char ret_text[IPAM_TEXT]);
int ipam_parse_address(struct str text, uint32_t *ret_address) MUST_CHECK;

void ipam_init(struct ipam *p, uint32_t base, unsigned int prefix);
void ipam_done(struct ipam *p);

/* The machine's own: the first of the range. */
uint32_t ipam_gateway(const struct ipam *p);

/* The owner's address; a new one if it has none: the one that goes with `name` (NULL: any), so that
 * a pod that is made again is found where the last of its name was.  -ENOSPC: all are taken. */
int ipam_take(struct ipam *p, const char *owner, const char *name, uint32_t *ret_address,
              struct err *e) MUST_CHECK;
/* An owner that has its address already, from an earlier life. */
int ipam_restore(struct ipam *p, const char *owner, uint32_t address) MUST_CHECK;
void ipam_release(struct ipam *p, const char *owner);

/* Do two ranges overlap? */
bool ipam_overlap(uint32_t a, unsigned int a_prefix, uint32_t b, unsigned int b_prefix);
