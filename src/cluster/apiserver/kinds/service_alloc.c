/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Addresses and node ports of services.
 *
 * There is no book of what is taken beside the services themselves: the book could be wrong after a
 * crash, they cannot.  Each allocation reads the stored services and marks what they hold.  That is
 * a search in their text, without parsing: "clusterIP":"..." and "nodePort":... stand nowhere else
 * in a service (inside of strings the quotes would be escaped), and a needless mark would only cost
 * an address.
 *
 * The low end of the range is left to people who choose an address themselves.
 */
#include "src/cluster/apiserver/kinds/service_alloc.h"

#include <arpa/inet.h>

#include "src/base/encode.h"
#include "src/cluster/apiserver/kinds/lookup.h"

#define CHOSEN_BY_HAND 256U

static bool marked(const uint8_t *bits, uint32_t i)
{
    return bits[i / 8] & (1U << (i % 8));
}

static void mark(uint8_t *bits, uint32_t i)
{
    bits[i / 8] |= (uint8_t)(1U << (i % 8));
}

/* The offset of an address in the range, or -1. */
static int64_t offset_of(const char *address)
{
    struct in_addr ip;
    uint32_t host;

    if (inet_pton(AF_INET, address, &ip) != 1)
        return -1;
    host = ntohl(ip.s_addr);
    if (host < SERVICE_RANGE_BASE || host - SERVICE_RANGE_BASE >= SERVICE_RANGE_SIZE)
        return -1;
    return host - SERVICE_RANGE_BASE;
}

static void mark_address(struct service_pool *p, struct str text)
{
    char address[64];
    int64_t i;

    if (text.n >= sizeof(address))
        return;
    memcpy(address, text.p, text.n);
    address[text.n] = '\0';
    i = offset_of(address);
    if (i >= 0)
        mark(p->addresses, (uint32_t)i);
}

static void mark_port(struct service_pool *p, struct str text)
{
    uint32_t port;

    if (str_to_u32(text, &port) == 0 && port >= SERVICE_NODE_PORT_FIRST &&
        port <= SERVICE_NODE_PORT_LAST)
        mark(p->ports, port - SERVICE_NODE_PORT_FIRST);
}

/* Each value after a key, up to the character that ends it. */
static void each_value(struct service_pool *p, struct str data, struct str key, const char *ends,
                       void (*fn)(struct service_pool *p, struct str text))
{
    const char *at = data.p;
    const char *end = data.p + data.n;

    while ((at = memmem(at, (size_t)(end - at), key.p, key.n))) {
        const char *from = at + key.n;
        const char *to = from;

        while (to < end && !strchr(ends, *to))
            to++;
        fn(p, (struct str){from, (size_t)(to - from)});
        at = to;
    }
}

void service_pool_mark(struct service_pool *p, struct str data)
{
    each_value(p, data, STR("\"clusterIP\":\""), "\"", mark_address);
    each_value(p, data, STR("\"nodePort\":"), ",}", mark_port);
    each_value(p, data, STR("\"healthCheckNodePort\":"), ",}", mark_port);
}

struct reading {
    struct service_pool *pool;
    struct str but_for; /* "uid":"..." */
};

static bool read_one(void *arg, struct str data)
{
    struct reading *r = arg;

    if (r->but_for.n == 0 || !memmem(data.p, data.n, r->but_for.p, r->but_for.n))
        service_pool_mark(r->pool, data);
    return true;
}

int service_pool_read(struct api_call *c, const char *but_for, struct service_pool **ret_pool)
{
    struct reading reading = {.pool = arena_calloc(&c->arena, 1, sizeof(struct service_pool))};
    int r;

    if (but_for && but_for[0] != '\0')
        reading.but_for = str_of(arena_printf(&c->arena, "\"uid\":\"%s\"", but_for));
    mark(reading.pool->addresses, 0);
    mark(reading.pool->addresses, SERVICE_RANGE_SIZE - 1);
    r = lookup_each(c, "services", NULL, read_one, &reading);
    if (r == 0)
        *ret_pool = reading.pool;
    return r;
}

const char *service_pool_take_address(struct arena *a, struct service_pool *p, const char *address)
{
    int64_t i = offset_of(address);

    if (i < 0)
        return arena_printf(a,
                            "the provided IP (%s) is not in the valid range. The range of valid "
                            "IPs is " SERVICE_RANGE,
                            address);
    if (marked(p->addresses, (uint32_t)i))
        return "provided IP is already allocated";
    mark(p->addresses, (uint32_t)i);
    return NULL;
}

const char *service_pool_take_port(struct service_pool *p, int64_t port)
{
    uint32_t i = (uint32_t)(port - SERVICE_NODE_PORT_FIRST);

    if (port < (int64_t)SERVICE_NODE_PORT_FIRST || port > (int64_t)SERVICE_NODE_PORT_LAST)
        return "provided port is not in the valid range. The range of valid ports is 30000-32767";
    if (marked(p->ports, i))
        return "provided port is already allocated";
    mark(p->ports, i);
    return NULL;
}

/* The first clear bit at or after a random one in [low, high), set; -1: none. */
static int64_t take_any(uint8_t *bits, uint32_t low, uint32_t high)
{
    uint32_t start;
    uint32_t n = high - low;

    encode_random(&start, sizeof(start));
    start %= n;
    for (uint32_t k = 0; k < n; k++) {
        uint32_t i = low + (start + k) % n;

        if (!marked(bits, i)) {
            mark(bits, i);
            return i;
        }
    }
    return -1;
}

const char *service_pool_any_address(struct arena *a, struct service_pool *p)
{
    int64_t i = take_any(p->addresses, CHOSEN_BY_HAND, SERVICE_RANGE_SIZE);
    char text[INET_ADDRSTRLEN];
    struct in_addr ip;

    if (i < 0)
        i = take_any(p->addresses, 1, CHOSEN_BY_HAND);
    if (i < 0)
        return "";
    ip.s_addr = htonl(SERVICE_RANGE_BASE + (uint32_t)i);
    if (!inet_ntop(AF_INET, &ip, text, sizeof(text)))
        return "";
    return arena_strdup(a, text);
}

int64_t service_pool_any_port(struct service_pool *p)
{
    int64_t i = take_any(p->ports, 0, SERVICE_NODE_PORT_LAST - SERVICE_NODE_PORT_FIRST + 1);

    return i < 0 ? 0 : i + SERVICE_NODE_PORT_FIRST;
}
