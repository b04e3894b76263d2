/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The bridge that a cluster's pods are on.
 *
 * The machine holds the first address of the range; each pod has an interface pair, whose inner end
 * is eth0.  Names are derived (bridge from the cluster's name, interface from the pod's uid), so
 * that what a dead predecessor left is found again.  Pods reach each other through the machine's
 * routing, which has to forward for that.
 *
 * Addresses of Services exist nowhere; what is sent to them is turned to pods on its way out.  That
 * way is the bridge: by the default route, what is not turned (there is no such Service, or no rule
 * yet) would go to a stranger's network, and without a default route nowhere.
 */
#include "src/cluster/node/network/bridge.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "src/base/alloc.h"
#include "src/base/file.h"
#include "src/base/hash.h"
#include "src/base/log.h"
#include "src/cluster/node/network/forwarding.h"
#include "src/cluster/node/network/netlink.h"

#define FIRST_RANGE 0x0a830000U /* 10.131.0.0/16, then 10.132.0.0/16 and so on */
#define RANGES 100
#define SERVICES 0x0a600000U /* 10.96.0.0/16 */
#define SERVICES_PREFIX 16
#define SERVICES_METRIC 0x10000U /* each cluster has its own, after all others */
#define MTU_DEFAULT 1500
/* Root's alone: in /run/lock anybody could make, and lock, a file before us. */
#define RUN_DIR "/run/slurmkeeper"

void bridge_name(const char *cluster, char ret_name[16])
{
    if (strlen(cluster) <= 12)
        (void)snprintf(ret_name, 16, BRIDGE_PREFIX "%s", cluster);
    else
        (void)snprintf(ret_name, 16, BRIDGE_PREFIX "%.4s%08x", cluster,
                       hash_stable32(str_of(cluster)));
}

static void interface_name(const char *uid, char ret_name[16])
{
    (void)snprintf(ret_name, 16, "skv%012llx",
                   (unsigned long long)(hash_stable64(str_of(uid)) & 0xffffffffffffULL));
}

static unsigned int prefix_of(const struct sockaddr *mask)
{
    struct sockaddr_in in;

    if (!mask)
        return 32;
    memcpy(&in, mask, sizeof(in));
    return (unsigned int)__builtin_popcount(in.sin_addr.s_addr);
}

/* The interface of this machine, other than `except`, whose network overlaps the range; or "". */
static void find_conflict(uint32_t base, unsigned int prefix, const char *except, char who[64])
{
    struct ifaddrs *all = NULL;

    who[0] = '\0';
    if (getifaddrs(&all) < 0)
        return;
    for (struct ifaddrs *i = all; i && !who[0]; i = i->ifa_next) {
        struct sockaddr_in in;

        if (!i->ifa_addr || i->ifa_addr->sa_family != AF_INET || streq(i->ifa_name, except))
            continue;
        memcpy(&in, i->ifa_addr, sizeof(in));
        if (ipam_overlap(base, prefix, ntohl(in.sin_addr.s_addr), prefix_of(i->ifa_netmask)))
            (void)snprintf(who, 64, "interface %s", i->ifa_name);
    }
    freeifaddrs(all);
}

struct route {
    char interface[32];
    uint32_t to;
    unsigned int prefix;
};

/* The next line of /proc/net/route: interface, destination and mask as the kernel's bytes in hex.
 */
static bool next_route(struct str *rest, struct route *ret)
{
    struct str line;

    while (str_split(rest, '\n', &line)) {
        AUTO(free) char *copy = str_dup(line);
        unsigned int to, mask;

        if (sscanf(copy, "%31s %8x %*x %*x %*u %*u %*u %8x", ret->interface, &to, &mask) != 3)
            continue;
        ret->to = ntohl(to);
        ret->prefix = (unsigned int)__builtin_popcount(mask);
        return true;
    }
    return false;
}

static void find_route_conflict(uint32_t base, unsigned int prefix, const char *except,
                                char who[64])
{
    AUTO(free) char *text = NULL;
    struct route route;
    struct str rest;
    size_t n;

    if (file_read("/proc/net/route", 1 << 20, &text, &n, NULL) < 0)
        return;
    rest = (struct str){text, n};
    while (!who[0] && next_route(&rest, &route))
        if (route.prefix > 0 && !streq(route.interface, except) &&
            ipam_overlap(base, prefix, route.to, route.prefix))
            (void)snprintf(who, 64, "a route over %s", route.interface);
}

bool bridge_services_elsewhere(void)
{
    AUTO(free) char *text = NULL;
    struct route route;
    struct str rest;
    size_t n;

    if (file_read("/proc/net/route", 1 << 20, &text, &n, NULL) < 0)
        return false;
    rest = (struct str){text, n};
    while (next_route(&rest, &route))
        if (!starts_with(route.interface, BRIDGE_PREFIX) && route.prefix > 0 &&
            ipam_overlap(SERVICES, SERVICES_PREFIX, route.to, route.prefix))
            return true;
    return false;
}

static bool in_use(uint32_t base, unsigned int prefix, const char *except, char who[64])
{
    find_conflict(base, prefix, except, who);
    if (!who[0])
        find_route_conflict(base, prefix, except, who);
    return who[0];
}

static int choose(struct bridge *b, uint32_t *ret_base, unsigned int *ret_prefix, struct err *e)
{
    char who[64];

    for (uint32_t i = 0; i < RANGES; i++) {
        *ret_base = FIRST_RANGE + (i << 16);
        *ret_prefix = 16;
        if (!in_use(*ret_base, *ret_prefix, b->name, who))
            return 0;
    }
    return err_set(e, -EADDRINUSE, ERR_PERMANENT,
                   "no range of addresses is free for pods; name one with --pod-cidr");
}

/* The range asked for, or the last one, or a free one. */
static int find_range(struct bridge *b, const char *dir, const char *cidr, uint32_t *ret_base,
                      unsigned int *ret_prefix, struct err *e)
{
    AUTO(free) char *path = xasprintf("%s/pod-cidr", dir);
    AUTO(free) char *last = NULL;
    char who[64];
    size_t n = 0;
    int r;

    if (!cidr && file_read(path, 64, &last, &n, NULL) == 0)
        cidr = last;
    if (!cidr)
        return choose(b, ret_base, ret_prefix, e);
    r = ipam_parse(str_trim(str_of(cidr)), ret_base, ret_prefix, e);
    if (r < 0)
        return r;
    if (in_use(*ret_base, *ret_prefix, b->name, who))
        return err_set(e, -EADDRINUSE, ERR_PERMANENT,
                       "the range " STR_FMT " of pod addresses is in use by %s; name another one "
                       "with --pod-cidr",
                       STR_ARG(str_trim(str_of(cidr))), who);
    return 0;
}

static void write_setting(const char *path, const char *value)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);

    if (fd >= 0) {
        (void)!file_write_all(fd, str_of(value));
        (void)close(fd);
    }
}

/* The switch, and so the record of it, is one for each network namespace. */
static void forward(const char *bridge, void (*fn)(const struct forwarding *f, const char *bridge))
{
    struct stat ns = {0};
    AUTO(free) char *record = NULL;
    struct err e = {0};

    (void)stat("/proc/self/ns/net", &ns);
    if (file_private_dir(RUN_DIR, &e) < 0)
        log_warn("the switch for forwarding stays as it is: %s", e.text);
    record = xasprintf(RUN_DIR "/forwarding-%llu", (unsigned long long)ns.st_ino);
    fn(&(struct forwarding){.setting = "/proc/sys/net/ipv4/ip_forward",
                            .record = record,
                            .interfaces = "/sys/class/net"},
       bridge);
}

static int make(struct bridge *b, struct err *e)
{
    uint32_t gateway = ipam_gateway(&b->ipam);
    uint32_t tail = hash_stable32(str_of(b->name));
    unsigned char mac[6] = {0x02,
                            0x73,
                            (unsigned char)(tail >> 24),
                            (unsigned char)(tail >> 16),
                            (unsigned char)(tail >> 8),
                            (unsigned char)tail};
    AUTO(free) char *redirects = xasprintf("/proc/sys/net/ipv4/conf/%s/send_redirects", b->name);
    AUTO(free) char *asking = xasprintf("/proc/sys/net/ipv4/neigh/%s/retrans_time_ms", b->name);
    AUTO(free) char *no_ipv6 = xasprintf("/proc/sys/net/ipv6/conf/%s/disable_ipv6", b->name);
    int r = netlink_bridge_make(b->name, mac, e);

    if (r == 0)
        r = netlink_address_add(b->name, gateway, b->ipam.prefix, e);
    /* The default route would take them out of the machine, to whoever has such addresses there. */
    if (r == 0 && !bridge_services_elsewhere())
        r = netlink_route_add(b->name, SERVICES, SERVICES_PREFIX, SERVICES_METRIC | (tail & 0xffff),
                              e);
    if (r == 0) {
        forward(b->name, forwarding_begin);
        write_setting(redirects, "0");
        write_setting(no_ipv6, "1");  /* or a pod could announce itself as the machine's router */
        write_setting(asking, "100"); /* an address without a pod is known as such at once */
    }
    return r;
}

/* Held while a range is chosen and taken: clusters that start at once must not choose the same. */
static int lock_ranges(int *ret_fd, struct err *e)
{
    AUTO(close) int fd = -1;
    int r = file_private_dir(RUN_DIR, e);

    if (r == 0)
        r = file_private_open(RUN_DIR "/ranges", &fd, e);
    if (r == 0 && flock(fd, LOCK_EX) < 0)
        r = err_errno(e, errno, "lock '" RUN_DIR "/ranges'");
    if (r == 0)
        *ret_fd = TAKE_FD(fd);
    return r;
}

int bridge_open(struct bridge *b, const char *cluster, const char *dir, const char *cidr,
                struct err *e)
{
    AUTO(free) char *path = xasprintf("%s/pod-cidr", dir);
    AUTO(close) int lock = -1;
    unsigned int prefix;
    uint32_t base;
    char text[IPAM_TEXT];
    bool changed;
    int r;

    bridge_name(cluster, b->name);
    b->mtu = MTU_DEFAULT;
    r = lock_ranges(&lock, e);
    if (r == 0)
        r = find_range(b, dir, cidr, &base, &prefix, e);
    if (r < 0)
        return r;
    ipam_init(&b->ipam, base, prefix);
    ipam_print(base, text);
    (void)snprintf(b->cidr, sizeof(b->cidr), "%s/%u", text, prefix);
    ipam_print(ipam_gateway(&b->ipam), b->gateway);
    r = make(b, e);
    return r < 0 ? r : file_update(path, str_of(b->cidr), 0644, &changed, e);
}

void bridge_done(struct bridge *b)
{
    ipam_done(&b->ipam);
}

int bridge_plug(struct bridge *b, const char *uid, uint32_t address, pid_t pid, struct err *e)
{
    /* Neighbours that knew the last holder of the address know this one, too. */
    const unsigned char mac[6] = {0x0a,
                                  0x58,
                                  (unsigned char)(address >> 24),
                                  (unsigned char)(address >> 16),
                                  (unsigned char)(address >> 8),
                                  (unsigned char)address};
    char name[16];
    int r;

    interface_name(uid, name);
    r = netlink_delete(name, e);
    return r < 0 ? r : netlink_veth_make(name, b->name, pid, mac, b->mtu, e);
}

void bridge_unplug(struct bridge *b, const char *uid)
{
    char name[16];

    (void)b;
    interface_name(uid, name);
    (void)!netlink_delete(name, NULL);
}

int bridge_remove(const char *cluster, struct err *e)
{
    AUTO(close) int lock = -1;
    char name[16];
    int r;

    bridge_name(cluster, name);
    r = lock_ranges(&lock, e);
    if (r == 0)
        r = netlink_delete(name, e);
    if (r == 0)
        forward(name, forwarding_end);
    return r;
}
