/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * IP addresses in services and endpoints.
 *
 * Addresses that mean something else on every machine (loopback, link-local, 0.0.0.0) are refused:
 * they would lead traffic to the machine that asks, or to a cloud's metadata service.
 */
#include "src/cluster/apiserver/kinds/address.h"

#include <arpa/inet.h>

bool address_is_ipv6(const char *text)
{
    return strchr(text, ':') != NULL;
}

static const char *special_v4(uint32_t ip)
{
    if (ip == 0)
        return "may not be unspecified (0.0.0.0 or ::)";
    if (ip >> 24 == 127)
        return "may not be in the loopback range (127.0.0.0/8, ::1/128)";
    if (ip >> 16 == 0xa9fe)
        return "may not be in the link-local range (169.254.0.0/16, fe80::/10)";
    if (ip >> 8 == 0xe00000)
        return "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)";
    return NULL;
}

static const char *special_v6(const struct in6_addr *ip)
{
    if (IN6_IS_ADDR_UNSPECIFIED(ip))
        return "may not be unspecified (0.0.0.0 or ::)";
    if (IN6_IS_ADDR_LOOPBACK(ip))
        return "may not be in the loopback range (127.0.0.0/8, ::1/128)";
    if (IN6_IS_ADDR_LINKLOCAL(ip))
        return "may not be in the link-local range (169.254.0.0/16, fe80::/10)";
    if (IN6_IS_ADDR_MC_LINKLOCAL(ip))
        return "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)";
    return NULL;
}

void address_check(struct causes *cs, const struct place *at)
{
    const char *text = place_str(at);
    const char *special = NULL;
    struct in6_addr v6;
    struct in_addr v4;

    if (inet_pton(AF_INET, text, &v4) == 1)
        special = special_v4(ntohl(v4.s_addr));
    else if (inet_pton(AF_INET6, text, &v6) == 1)
        special = special_v6(&v6);
    else
        special = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
    if (special)
        place_invalid(cs, at, "%s", special);
}
