/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The owner of the other end of a TCP connection within this machine.
 *
 * The kernel is asked for exactly one socket (sock_diag), which costs a few microseconds, whatever
 * the number of connections; /proc/net/tcp would have to be read whole.  A socket that its owner
 * has closed already is reported without an inode and as root's: nobody's, that is.
 */
#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>

#include "src/base/cleanup.h"
#include "src/http/peer.h"

struct question {
    struct nlmsghdr head;
    struct inet_diag_req_v2 request;
};

static void set_end(const union peer_address *a, __be16 *port, __be32 host[4])
{
    if (a->any.sa_family == AF_INET) {
        *port = a->v4.sin_port;
        host[0] = a->v4.sin_addr.s_addr;
    } else {
        *port = a->v6.sin6_port;
        memcpy(host, &a->v6.sin6_addr, sizeof(a->v6.sin6_addr));
    }
}

static int ask(int netlink, const union peer_address *theirs, const union peer_address *ours)
{
    struct question q = {
        .head = {.nlmsg_len = sizeof(q),
                 .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                 .nlmsg_flags = NLM_F_REQUEST},
        .request = {.sdiag_family = (__u8)theirs->any.sa_family,
                    .sdiag_protocol = IPPROTO_TCP,
                    .idiag_states = ~0U,
                    .id.idiag_cookie = {INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE}},
    };

    set_end(theirs, &q.request.id.idiag_sport, q.request.id.idiag_src);
    set_end(ours, &q.request.id.idiag_dport, q.request.id.idiag_dst);
    return send(netlink, &q, sizeof(q), 0) == sizeof(q) ? 0 : -errno;
}

/* The kernel has answered before send returned. */
static int hear(int netlink, uid_t *ret_uid)
{
    union {
        struct nlmsghdr head;
        char room[4096];
    } answer;
    const struct inet_diag_msg *m = NLMSG_DATA(&answer.head);
    ssize_t n = recv(netlink, &answer, sizeof(answer), MSG_DONTWAIT);

    if (n < (ssize_t)NLMSG_LENGTH(sizeof(*m)) || answer.head.nlmsg_type != SOCK_DIAG_BY_FAMILY ||
        m->idiag_inode == 0)
        return -ENOENT;
    *ret_uid = m->idiag_uid;
    return 0;
}

int peer_tcp_uid(const union peer_address *theirs, const union peer_address *ours, uid_t *ret_uid)
{
    AUTO(close) int netlink = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);

    if (netlink < 0 || ask(netlink, theirs, ours) < 0)
        return -ENOENT;
    return hear(netlink, ret_uid);
}
