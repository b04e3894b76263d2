/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bytes between pods and the API server.
 *
 * TLS and everything above it is between the two ends; here are only two sockets a connection, each
 * read when the other can take more.  An end of one direction is passed on; the connection goes
 * when both have ended.  A pod may have a small part of all connections; when all are taken, the
 * oldest one of the pod that has the most gives way.
 */
#include "src/cluster/node/network/api_relay.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "src/base/alloc.h"
#include "src/base/buf.h"
#include "src/base/crowd.h"
#include "src/base/list.h"
#include "src/loop/acceptor.h"

#define MAX_WAITING ((size_t)64 << 10)
#define MAX_CONNECTIONS 1024
#define MAX_CONNECTIONS_OF_POD 128 /* so that no pod keeps the others out */

struct api_relay {
    struct loop *loop;
    int fd;
    uint16_t port;
    struct sockaddr_in to;
    struct acceptor *acceptor;
    struct list pairs;
    struct crowd pods; /* their connections */
};

struct end {
    int fd;
    struct loop_source *source;
    struct buf out; /* for this end */
    bool ended;     /* it sends no more */
    bool shut;      /* and has been told that the other sends no more */
};

struct pair {
    struct api_relay *relay;
    struct list link;
    struct crowd_member member; /* of the pod's */
    struct end ends[2];         /* the pod's, the server's */
    bool connected;
};

static void pair_free(struct pair *p)
{
    for (int i = 0; i < 2; i++) {
        (void)loop_source_free(p->ends[i].source);
        (void)close(p->ends[i].fd);
        buf_done(&p->ends[i].out);
    }
    list_remove(&p->link);
    crowd_leave(&p->member);
    free(p);
}

static void set_events(struct pair *p)
{
    for (int i = 0; i < 2; i++) {
        struct end *x = &p->ends[i];
        uint32_t events = 0;

        if (!x->ended && p->ends[!i].out.n < MAX_WAITING)
            events |= EPOLLIN;
        if (x->out.n > 0 || (i == 1 && !p->connected))
            events |= EPOLLOUT;
        loop_fd_set_events(x->source, events);
    }
}

/* False: the connection is broken. */
static bool flush(struct pair *p, int i)
{
    struct end *x = &p->ends[i];

    if ((i == 0 || p->connected) && buf_send(&x->out, x->fd) < 0)
        return false;
    if (p->ends[!i].ended && x->out.n == 0 && !x->shut) {
        (void)shutdown(x->fd, SHUT_WR);
        x->shut = true;
    }
    return true;
}

static bool take(struct pair *p, int i)
{
    char data[32768];
    ssize_t n = recv(p->ends[i].fd, data, sizeof(data), MSG_DONTWAIT);

    if (n < 0)
        return errno == EAGAIN || errno == EINTR;
    if (n == 0)
        p->ends[i].ended = true;
    else
        buf_add(&p->ends[!i].out, data, (size_t)n);
    return true;
}

static void on_end(struct pair *p, int i, uint32_t events)
{
    bool ok = true;

    if (i == 1 && events & EPOLLOUT)
        p->connected = true;
    if (events & (EPOLLIN | EPOLLHUP | EPOLLERR))
        ok = take(p, i);
    ok = ok && flush(p, 0) && flush(p, 1);
    if (!ok || (p->ends[0].shut && p->ends[1].shut)) {
        pair_free(p);
        return;
    }
    set_events(p);
}

static void on_pod(void *arg, int fd, uint32_t events)
{
    (void)fd;
    on_end(arg, 0, events);
}

static void on_server(void *arg, int fd, uint32_t events)
{
    (void)fd;
    on_end(arg, 1, events);
}

/*
 * The server sees an address of its own for each pod, so that it can tell a greedy one from the
 * others (http/peer.c).  It is never 127.0.0.1, whose connections are the machine's own.
 */
static void speak_for(int server, struct in_addr pod)
{
    uint32_t host = ntohl(pod.s_addr);
    struct sockaddr_in own = {.sin_family = AF_INET,
                              .sin_addr.s_addr = htonl(0x7F800000 | (host & 0x007FFFFF))};
    int on = 1;

    (void)setsockopt(server, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof(on));
    (void)bind(server, (struct sockaddr *)&own, sizeof(own));
}

/* The oldest connection of the pod that has the most gives way. */
static bool make_room(void *arg)
{
    struct api_relay *r = arg;
    struct crowd_member *m = crowd_pick(&r->pods, CROWD_BY_COUNT);

    if (!m)
        return false;
    pair_free(CONTAINER_OF(m, struct pair, member));
    return true;
}

static bool has_room(struct api_relay *r, const char *pod)
{
    if (crowd_count(&r->pods, pod) >= MAX_CONNECTIONS_OF_POD)
        return false;
    return r->pods.n < MAX_CONNECTIONS || make_room(r);
}

static void pair_new(struct api_relay *r, int pod, int server, const char *name)
{
    struct pair *p = xcalloc(1, sizeof(*p));

    p->relay = r;
    p->ends[0].fd = pod;
    p->ends[1].fd = server;
    p->ends[0].source = loop_add_fd(r->loop, pod, EPOLLIN, on_pod, p);
    p->ends[1].source = loop_add_fd(r->loop, server, EPOLLOUT, on_server, p);
    list_append(&r->pairs, &p->link);
    crowd_join(&r->pods, &p->member, name);
    crowd_set_idle(&p->member, true);
}

static void on_accept(void *arg, int fd)
{
    struct api_relay *r = arg;
    struct sockaddr_in from = {0};
    socklen_t len = sizeof(from);
    char name[INET_ADDRSTRLEN] = "?";
    AUTO(close) int pod = fd;
    AUTO(close) int server = -1;

    (void)getpeername(fd, (struct sockaddr *)&from, &len);
    (void)inet_ntop(AF_INET, &from.sin_addr, name, sizeof(name));
    if (!has_room(r, name))
        return;
    server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (server < 0)
        return;
    speak_for(server, from.sin_addr);
    if (connect(server, (struct sockaddr *)&r->to, sizeof(r->to)) < 0 && errno != EINPROGRESS)
        return;
    pair_new(r, TAKE_FD(pod), TAKE_FD(server), name);
}

/* "https://127.0.0.1:6443" to its address; false for what is not on loopback. */
static bool parse_server(const char *url, struct sockaddr_in *ret)
{
    const char *host = strstr(url, "://");
    struct str rest = str_of(host ? host + 3 : url), name;
    AUTO(free) char *text = NULL;
    uint32_t port = 443;

    (void)str_split(&rest, ':', &name);
    if (rest.n && str_to_u32((struct str){rest.p, str_find(rest, '/')}, &port) < 0)
        return false;
    text = str_dup((struct str){name.p, str_find(name, '/')});
    *ret = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    return inet_pton(AF_INET, streq(text, "localhost") ? "127.0.0.1" : text, &ret->sin_addr) == 1 &&
           ntohl(ret->sin_addr.s_addr) >> 24 == 127;
}

int api_relay_new(struct loop *l, const char *address, const char *server,
                  struct api_relay **ret_relay, struct err *e)
{
    struct sockaddr_in at = {.sin_family = AF_INET};
    struct sockaddr_in to;
    socklen_t n = sizeof(at);
    AUTO(close) int fd = -1;
    struct api_relay *r;

    if (!parse_server(server, &to)) {
        *ret_relay = NULL;
        return 0;
    }
    fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    (void)inet_pton(AF_INET, address, &at.sin_addr);
    if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof(at)) < 0 || listen(fd, 128) < 0 ||
        getsockname(fd, (struct sockaddr *)&at, &n) < 0)
        return err_errno(e, errno, "cannot listen for pods on %s", address);
    r = xcalloc(1, sizeof(*r));
    r->loop = l;
    r->fd = TAKE_FD(fd);
    r->port = ntohs(at.sin_port);
    r->to = to;
    list_init(&r->pairs);
    crowd_init(&r->pods);
    r->acceptor = acceptor_new(l, r->fd, on_accept, make_room, r);
    *ret_relay = r;
    return 0;
}

struct api_relay *api_relay_free(struct api_relay *r)
{
    if (!r)
        return NULL;
    LIST_FOR_EACH (p, &r->pairs, struct pair, link)
        pair_free(p);
    crowd_done(&r->pods);
    (void)acceptor_free(r->acceptor);
    (void)close(r->fd);
    free(r);
    return NULL;
}

uint16_t api_relay_port(const struct api_relay *r)
{
    return r->port;
}
