/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who is at the other end, and in whose account it is counted.
 *
 *   a Unix socket             the uid of who connected (SO_PEERCRED)
 *   TCP within this machine   the uid of who made the other socket (peer_uid.c): on one machine
 *                             everybody is 127.0.0.1, and one user must not lock out the others
 *   other TCP                 the address; of IPv6 its first 64 bits, which is what a site hands
 * out
 *
 * Root may come from another loopback address than 127.0.0.1 on behalf of somebody else: the node's
 * relay gives each pod an address of its own (node/api_relay.c).  Such an address is an account.
 * Nobody but root gains anything by that: an ordinary user's account is the uid, from wherever.
 */
#include "src/http/peer.h"

#include <arpa/inet.h>
#include <unistd.h>

#include "src/base/alloc.h"
#include "src/base/str.h"

static bool is_trusted(uid_t uid)
{
    return uid == 0 || uid == geteuid();
}

static void learn_unix(int fd, struct peer *p)
{
    struct ucred cred = {0};
    socklen_t n = sizeof(cred);

    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &n) < 0)
        cred = (struct ucred){.uid = (uid_t)-1};
    p->text = xasprintf("unix:uid=%u,pid=%d", cred.uid, cred.pid);
    p->account = xasprintf("uid %u", cred.uid);
    p->trusted = is_trusted(cred.uid);
}

static bool is_loopback(const union peer_address *a)
{
    if (a->any.sa_family == AF_INET)
        return ntohl(a->v4.sin_addr.s_addr) >> 24 == 127;
    return IN6_IS_ADDR_LOOPBACK(&a->v6.sin6_addr);
}

static bool same_host(const union peer_address *a, const union peer_address *b)
{
    if (a->any.sa_family == AF_INET)
        return a->v4.sin_addr.s_addr == b->v4.sin_addr.s_addr;
    return IN6_ARE_ADDR_EQUAL(&a->v6.sin6_addr, &b->v6.sin6_addr);
}

/* The account of an address; `host` is its text. */
static char *account_of_address(const union peer_address *a, const char *host)
{
    struct in6_addr site;
    char text[INET6_ADDRSTRLEN] = "?";

    if (a->any.sa_family == AF_INET || is_loopback(a))
        return xstrdup(host);
    site = a->v6.sin6_addr;
    memset(site.s6_addr + 8, 0, 8);
    (void)inet_ntop(AF_INET6, &site, text, sizeof(text));
    return xasprintf("%s/64", text);
}

static void learn_local(const union peer_address *from, const union peer_address *to,
                        const char *host, struct peer *p)
{
    bool plain = same_host(from, to) || streq(host, "127.0.0.1");
    uid_t uid;

    if (peer_tcp_uid(from, to, &uid) < 0) {
        p->account = xstrdup("this machine");
    } else if (uid == 0 && !plain) {
        p->account = xstrdup(host);
    } else {
        p->account = xasprintf("uid %u", uid);
        p->trusted = is_trusted(uid);
    }
}

static void learn_tcp(int fd, const union peer_address *from, struct peer *p)
{
    bool v4 = from->any.sa_family == AF_INET;
    char host[INET6_ADDRSTRLEN] = "?";
    union peer_address to = {0};
    socklen_t n = sizeof(to);

    if (v4)
        (void)inet_ntop(AF_INET, &from->v4.sin_addr, host, sizeof(host));
    else
        (void)inet_ntop(AF_INET6, &from->v6.sin6_addr, host, sizeof(host));
    p->text = xasprintf(v4 ? "%s:%u" : "[%s]:%u", host,
                        ntohs(v4 ? from->v4.sin_port : from->v6.sin6_port));
    (void)getsockname(fd, &to.any, &n);
    if (is_loopback(from) || (to.any.sa_family == from->any.sa_family && same_host(from, &to)))
        learn_local(from, &to, host, p);
    else
        p->account = account_of_address(from, host);
}

void peer_learn(int fd, struct peer *ret_peer)
{
    union peer_address from = {0};
    socklen_t n = sizeof(from);

    *ret_peer = (struct peer){0};
    (void)getpeername(fd, &from.any, &n);
    if (from.any.sa_family == AF_INET || from.any.sa_family == AF_INET6)
        learn_tcp(fd, &from, ret_peer);
    else
        learn_unix(fd, ret_peer);
}
