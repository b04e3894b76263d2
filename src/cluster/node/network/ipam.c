/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Addresses of pods.
 *
 * The first address of the range is the machine's, the last is for broadcasts.  A pod has an
 * address that follows from its name, if that is free: whoever kept the address of a worker that
 * was made again (slurmctld does) still reaches it.  Others take the one after the last that was
 * given, so that an address means another pod only after the whole range has been gone through.
 */
#include "src/cluster/node/network/ipam.h"

#include <stdio.h>

#include "src/base/alloc.h"
#include "src/base/hash.h"

static void free_lease(void *p)
{
    struct ipam_lease *l = p;

    free(l->owner);
    free(l);
}

int ipam_parse_address(struct str text, uint32_t *ret_address)
{
    uint32_t address = 0;
    struct str part;
    int n = 0;

    while (str_split(&text, '.', &part)) {
        uint32_t v;

        if (part.n > 3 || str_to_u32(part, &v) < 0 || v > 255 || ++n > 4)
            return -EINVAL;
        address = address << 8 | v;
    }
    if (n != 4)
        return -EINVAL;
    *ret_address = address;
    return 0;
}

void ipam_print(uint32_t a, char ret_text[IPAM_TEXT])
{
    (void)snprintf(ret_text, IPAM_TEXT, "%u.%u.%u.%u", a >> 24, a >> 16 & 255, a >> 8 & 255,
                   a & 255);
}

static uint32_t mask_of(unsigned int prefix)
{
    return prefix == 0 ? 0 : UINT32_MAX << (32 - prefix);
}

int ipam_parse(struct str cidr, uint32_t *ret_base, unsigned int *ret_prefix, struct err *e)
{
    struct str rest = cidr, address;
    uint32_t base, prefix;

    (void)str_split(&rest, '/', &address);
    if (ipam_parse_address(address, &base) < 0 || str_to_u32(rest, &prefix) < 0)
        return err_bad(e, "'" STR_FMT "' is not a range of IPv4 addresses like 10.131.0.0/16",
                       STR_ARG(cidr));
    if (prefix < 8 || prefix > 28)
        return err_bad(e, "'" STR_FMT "': the prefix must be from /8 to /28", STR_ARG(cidr));
    if (base & ~mask_of(prefix))
        return err_bad(e, "'" STR_FMT "' has bits set after its prefix", STR_ARG(cidr));
    *ret_base = base;
    *ret_prefix = prefix;
    return 0;
}

void ipam_init(struct ipam *p, uint32_t base, unsigned int prefix)
{
    *p = (struct ipam){.base = base, .prefix = prefix, .next = base + 2};
    map_init(&p->by_owner, free_lease);
    map_init(&p->by_address, NULL);
}

void ipam_done(struct ipam *p)
{
    map_done(&p->by_address);
    map_done(&p->by_owner);
}

uint32_t ipam_gateway(const struct ipam *p)
{
    return p->base + 1;
}

static bool ipam_contains(const struct ipam *p, uint32_t address)
{
    return (address & mask_of(p->prefix)) == p->base;
}

bool ipam_overlap(uint32_t a, unsigned int a_prefix, uint32_t b, unsigned int b_prefix)
{
    uint32_t mask = mask_of(MIN(a_prefix, b_prefix));

    return (a & mask) == (b & mask);
}

static struct str address_key(const uint32_t *address)
{
    return (struct str){(const char *)address, sizeof(*address)};
}

static void enter(struct ipam *p, const char *owner, uint32_t address)
{
    struct ipam_lease *l = xcalloc(1, sizeof(*l));

    l->owner = xstrdup(owner);
    l->address = address;
    (void)map_put(&p->by_owner, str_of(owner), l);
    (void)map_put(&p->by_address, address_key(&address), l);
}

static bool is_free(const struct ipam *p, uint32_t address)
{
    return !map_get(&p->by_address, address_key(&address));
}

int ipam_take(struct ipam *p, const char *owner, const char *name, uint32_t *ret_address,
              struct err *e)
{
    uint32_t first = p->base + 2;
    uint32_t last = (p->base | ~mask_of(p->prefix)) - 1;
    const struct ipam_lease *had = map_get(&p->by_owner, str_of(owner));

    if (had) {
        *ret_address = had->address;
        return 0;
    }
    for (uint32_t tried = 0; tried <= last - first + 1; tried++) {
        uint32_t address = p->next < first || p->next > last ? first : p->next;

        if (tried == 0 && name)
            address = first + hash_stable32(str_of(name)) % (last - first + 1);
        else
            p->next = address + 1;
        if (is_free(p, address)) {
            enter(p, owner, address);
            *ret_address = address;
            return 0;
        }
    }
    return err_set(e, -ENOSPC, ERR_RETRY,
                   "all %u addresses of the pod range are in use: delete pods, or start the node "
                   "with a larger --pod-cidr",
                   last - first + 1);
}

int ipam_restore(struct ipam *p, const char *owner, uint32_t address)
{
    if (!ipam_contains(p, address) || map_get(&p->by_address, address_key(&address)) ||
        map_get(&p->by_owner, str_of(owner)))
        return -EEXIST;
    enter(p, owner, address);
    return 0;
}

void ipam_release(struct ipam *p, const char *owner)
{
    struct ipam_lease *l = map_get(&p->by_owner, str_of(owner));

    if (!l)
        return;
    (void)map_del(&p->by_address, address_key(&l->address));
    (void)map_del(&p->by_owner, str_of(owner));
}
