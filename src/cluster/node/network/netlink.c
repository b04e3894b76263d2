/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rtnetlink, as far as a bridge with pods on it needs it.
 *
 * A message is built in a fixed buffer, sent, and its acknowledgement read.  Numbers are host byte
 * order as the kernel wants them; addresses are passed in host order and turned here.
 */
#include "src/cluster/node/network/netlink.h"

#include <arpa/inet.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <stdio.h>
#include <sys/socket.h>

#define MESSAGE_BYTES 1024

struct message {
    union {
        struct nlmsghdr head;
        char bytes[MESSAGE_BYTES];
    };
};

static void begin(struct message *m, int type, int flags)
{
    memset(m, 0, sizeof(*m));
    m->head.nlmsg_type = (uint16_t)type;
    m->head.nlmsg_flags = (uint16_t)(NLM_F_REQUEST | NLM_F_ACK | flags);
    m->head.nlmsg_len = NLMSG_HDRLEN;
}

/* Room for n bytes at the end, aligned; the message is large enough for all that we send. */
static void *append(struct message *m, size_t n)
{
    char *at = m->bytes + NLMSG_ALIGN(m->head.nlmsg_len);

    assert((size_t)(at - m->bytes) + n <= sizeof(m->bytes));
    m->head.nlmsg_len = (uint32_t)(NLMSG_ALIGN(m->head.nlmsg_len) + n);
    return at;
}

static struct rtattr *attr(struct message *m, unsigned int type, const void *data, size_t n)
{
    struct rtattr *a = append(m, RTA_LENGTH(n));

    a->rta_type = (unsigned short)type;
    a->rta_len = (unsigned short)RTA_LENGTH(n);
    if (n)
        memcpy(RTA_DATA(a), data, n);
    return a;
}

static void attr_str(struct message *m, unsigned int type, const char *s)
{
    (void)attr(m, type, s, strlen(s) + 1);
}

static void attr_u32(struct message *m, unsigned int type, uint32_t v)
{
    (void)attr(m, type, &v, sizeof(v));
}

static struct rtattr *nest(struct message *m, unsigned int type)
{
    return attr(m, type, NULL, 0);
}

static void nest_end(struct message *m, struct rtattr *a)
{
    a->rta_len = (unsigned short)(m->bytes + m->head.nlmsg_len - (char *)a);
}

/* Send and wait for the acknowledgement: 0 or a negative errno. */
static int talk(struct message *m)
{
    AUTO(close) int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
    struct timeval limit = {.tv_sec = 5};
    union {
        struct nlmsghdr head;
        char bytes[4096];
    } answer;
    struct nlmsgerr *err = NLMSG_DATA(&answer.head);
    ssize_t n;

    if (fd < 0)
        return -errno;
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    if (sendto(fd, m->bytes, m->head.nlmsg_len, 0, (struct sockaddr *)&kernel, sizeof(kernel)) < 0)
        return -errno;
    n = recv(fd, answer.bytes, sizeof(answer.bytes), 0);
    if (n < 0)
        return -errno;
    if ((size_t)n < NLMSG_LENGTH(sizeof(*err)) || answer.head.nlmsg_type != NLMSG_ERROR)
        return -EPROTO;
    return err->error;
}

static struct ifinfomsg *link_message(struct message *m, int type, int flags)
{
    struct ifinfomsg *i;

    begin(m, type, flags);
    i = append(m, sizeof(*i));
    i->ifi_family = AF_UNSPEC;
    return i;
}

int netlink_bridge_make(const char *name, const unsigned char mac[6], struct err *e)
{
    struct message m;
    struct rtattr *info;
    int r;

    (void)link_message(&m, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL);
    attr_str(&m, IFLA_IFNAME, name);
    (void)attr(&m, IFLA_ADDRESS, mac, 6);
    info = nest(&m, IFLA_LINKINFO);
    attr_str(&m, IFLA_INFO_KIND, "bridge");
    nest_end(&m, info);
    r = talk(&m);
    if (r < 0 && r != -EEXIST)
        return err_errno(e, -r, "cannot make the bridge %s", name);
    return 0;
}

static int netlink_up(const char *name, struct err *e)
{
    struct message m;
    struct ifinfomsg *i = link_message(&m, RTM_NEWLINK, 0);
    int r;

    i->ifi_flags = IFF_UP;
    i->ifi_change = IFF_UP;
    attr_str(&m, IFLA_IFNAME, name);
    r = talk(&m);
    return r < 0 ? err_errno(e, -r, "cannot bring up %s", name) : 0;
}

int netlink_address_add(const char *name, uint32_t address, unsigned int prefix, struct err *e)
{
    struct message m;
    struct ifaddrmsg *i;
    uint32_t raw = htonl(address);
    unsigned int index = if_nametoindex(name);
    int r;

    if (!index)
        return err_errno(e, errno, "there is no interface %s", name);
    begin(&m, RTM_NEWADDR, NLM_F_CREATE | NLM_F_REPLACE);
    i = append(&m, sizeof(*i));
    i->ifa_family = AF_INET;
    i->ifa_prefixlen = (uint8_t)prefix;
    i->ifa_index = index;
    (void)attr(&m, IFA_LOCAL, &raw, sizeof(raw));
    (void)attr(&m, IFA_ADDRESS, &raw, sizeof(raw));
    r = talk(&m);
    if (r < 0 && r != -EEXIST)
        return err_errno(e, -r, "cannot give %s its address", name);
    return netlink_up(name, e);
}

int netlink_route_add(const char *name, uint32_t network, unsigned int prefix, uint32_t metric,
                      struct err *e)
{
    struct message m;
    struct rtmsg *route;
    uint32_t raw = htonl(network);
    int r;

    begin(&m, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_REPLACE);
    route = append(&m, sizeof(*route));
    route->rtm_family = AF_INET;
    route->rtm_dst_len = (uint8_t)prefix;
    route->rtm_table = RT_TABLE_MAIN;
    route->rtm_protocol = RTPROT_STATIC;
    route->rtm_scope = RT_SCOPE_LINK;
    route->rtm_type = RTN_UNICAST;
    (void)attr(&m, RTA_DST, &raw, sizeof(raw));
    attr_u32(&m, RTA_OIF, if_nametoindex(name));
    attr_u32(&m, RTA_PRIORITY, metric);
    r = talk(&m);
    return r < 0 ? err_errno(e, -r, "cannot route over %s", name) : 0;
}

/* Let a port of a bridge send back what came from it: who reaches itself through a Service, where
 * the bridge itself translates addresses (br_netfilter). */
static int set_hairpin(const char *name)
{
    struct message m;
    struct ifinfomsg *i = link_message(&m, RTM_SETLINK, 0);
    struct rtattr *port;
    uint8_t on = 1;

    i->ifi_family = AF_BRIDGE;
    i->ifi_index = (int)if_nametoindex(name);
    port = nest(&m, IFLA_PROTINFO | NLA_F_NESTED);
    (void)attr(&m, IFLA_BRPORT_MODE, &on, sizeof(on));
    nest_end(&m, port);
    return talk(&m);
}

int netlink_veth_make(const char *name, const char *bridge, pid_t pid, const unsigned char mac[6],
                      unsigned int mtu, struct err *e)
{
    struct message m;
    struct ifinfomsg *i, *inner;
    struct rtattr *info, *data, *peer;
    unsigned int master = if_nametoindex(bridge);
    int r;

    if (!master)
        return err_errno(e, errno, "there is no bridge %s", bridge);
    i = link_message(&m, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL);
    i->ifi_flags = IFF_UP;
    i->ifi_change = IFF_UP;
    attr_str(&m, IFLA_IFNAME, name);
    attr_u32(&m, IFLA_MASTER, master);
    attr_u32(&m, IFLA_MTU, mtu);
    info = nest(&m, IFLA_LINKINFO);
    attr_str(&m, IFLA_INFO_KIND, "veth");
    data = nest(&m, IFLA_INFO_DATA);
    peer = nest(&m, VETH_INFO_PEER);
    inner = append(&m, sizeof(*inner));
    inner->ifi_family = AF_UNSPEC;
    attr_str(&m, IFLA_IFNAME, "eth0");
    (void)attr(&m, IFLA_ADDRESS, mac, 6);
    attr_u32(&m, IFLA_MTU, mtu);
    attr_u32(&m, IFLA_NET_NS_PID, (uint32_t)pid);
    nest_end(&m, peer);
    nest_end(&m, data);
    nest_end(&m, info);
    r = talk(&m);
    if (r == 0)
        r = set_hairpin(name);
    return r < 0 ? err_errno(e, -r, "cannot make the interface %s", name) : 0;
}

int netlink_delete(const char *name, struct err *e)
{
    struct message m;
    int r;

    (void)link_message(&m, RTM_DELLINK, 0);
    attr_str(&m, IFLA_IFNAME, name);
    r = talk(&m);
    if (r < 0 && r != -ENODEV)
        return err_errno(e, -r, "cannot remove the interface %s", name);
    return 0;
}
