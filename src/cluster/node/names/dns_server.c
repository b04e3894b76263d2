/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The name server of the pods, on the machine's address on the bridge.
 *
 * Names of the cluster are answered from the zone, at once; everything else goes to the machine's
 * own servers.  A client over TCP may ask several questions one after the other; it is closed when
 * it is silent for half a minute, and not heard while it does not read what it was answered.  What
 * one pod may hold of connections and of open questions is a small part of all.
 */
#include "src/cluster/node/names/dns_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "src/base/alloc.h"
#include "src/base/list.h"
#include "src/cluster/node/names/dns_forward.h"
#include "src/loop/acceptor.h"

#define MAX_PEERS 256
#define MAX_PEERS_OF_POD 16 /* so that no pod keeps the others out */
#define MAX_WAITS_OF_POD 64 /* questions of a pod that others are asked */
#define PEER_MS 30000
#define MAX_BEHIND ((size_t)64 << 10) /* of answers that a peer does not read */

struct dns_server {
    struct loop *loop;
    const struct dns_zone *zone;
    struct dns_forwarder *forwarder;
    int udp;
    int tcp;
    struct loop_source *udp_source;
    struct acceptor *acceptor;
    struct list peers; /* over TCP */
    size_t n_peers;
    struct list waits; /* over UDP: who waits for a forwarded answer */
};

/* A UDP client whose question was forwarded. */
struct wait {
    struct dns_server *server;
    struct list link;
    struct sockaddr_in to;
    struct buf message;
    struct dns_query *query;
};

struct peer {
    struct dns_server *server;
    struct list link;
    struct in_addr from;
    int fd;
    struct buf in;
    struct buf out;
    struct loop_source *source;
    struct loop_source *timer;
    struct dns_query *query;
};

/* The answer, or false: others have to be asked. */
static bool answer(const struct dns_server *s, struct str message, bool udp, struct buf *out)
{
    static const enum dns_code codes[] = {
        [DNS_ANSWERED] = DNS_OK, [DNS_NOTHING] = DNS_OK, [DNS_UNKNOWN] = DNS_NO_NAME};
    struct dns_question q;
    struct dns_answer a;
    enum dns_found f;
    int r = dns_question_parse(message, &q);

    if (r == -EBADMSG)
        return true; /* nothing to say */
    dns_answer_begin(&a, message, &q);
    if (r < 0) {
        dns_answer_end(&a, DNS_FORMAT_ERROR, NULL, udp);
    } else {
        f = dns_zone_answer(s->zone, &q, &a);
        if (f == DNS_NOT_OURS) {
            buf_done(&a.buf);
            return false;
        }
        dns_answer_end(&a, codes[f], s->zone->domain, udp);
    }
    buf_addstr(out, buf_view(&a.buf));
    buf_done(&a.buf);
    return true;
}

/* Nobody answered: so say it. */
static void add_failure(struct str message, bool udp, struct buf *out)
{
    struct dns_question q;
    struct dns_answer a;

    if (dns_question_parse(message, &q) < 0)
        return;
    dns_answer_begin(&a, message, &q);
    dns_answer_end(&a, DNS_SERVER_FAILED, NULL, udp);
    buf_addstr(out, buf_view(&a.buf));
    buf_done(&a.buf);
}

static void wait_free(struct wait *w)
{
    list_remove(&w->link);
    buf_done(&w->message);
    free(w);
}

static void send_to(const struct dns_server *s, const struct sockaddr_in *to, struct str data)
{
    if (data.n)
        (void)sendto(s->udp, data.p, data.n, MSG_DONTWAIT | MSG_NOSIGNAL,
                     (const struct sockaddr *)to, sizeof(*to));
}

static void on_forwarded(void *arg, struct str reply)
{
    struct wait *w = arg;
    AUTO(buf_done) struct buf out = {0};

    if (reply.n == 0)
        add_failure(buf_view(&w->message), true, &out);
    else
        buf_addstr(&out, reply);
    send_to(w->server, &w->to, buf_view(&out));
    wait_free(w);
}

static size_t waits_of(const struct dns_server *s, struct in_addr pod)
{
    size_t n = 0;

    LIST_FOR_EACH (w, &s->waits, struct wait, link)
        n += w->to.sin_addr.s_addr == pod.s_addr;
    return n;
}

static void forward_udp(struct dns_server *s, struct str message, const struct sockaddr_in *from)
{
    AUTO(buf_done) struct buf no = {0};
    struct wait *w;

    if (waits_of(s, from->sin_addr) >= MAX_WAITS_OF_POD) {
        add_failure(message, true, &no);
        send_to(s, from, buf_view(&no));
        return;
    }
    w = xcalloc(1, sizeof(*w));
    w->server = s;
    w->to = *from;
    buf_addstr(&w->message, message);
    list_append(&s->waits, &w->link);
    w->query = dns_forward(s->forwarder, message, false, on_forwarded, w);
}

static void on_udp(void *arg, int fd, uint32_t events)
{
    struct dns_server *s = arg;

    (void)events;
    for (int i = 0; i < 64; i++) {
        AUTO(buf_done) struct buf out = {0};
        struct sockaddr_in from;
        socklen_t len = sizeof(from);
        char data[4096];
        ssize_t n = recvfrom(fd, data, sizeof(data), MSG_DONTWAIT, (struct sockaddr *)&from, &len);
        struct str message = {data, n > 0 ? (size_t)n : 0};

        if (n < 0)
            return;
        if (answer(s, message, true, &out))
            send_to(s, &from, buf_view(&out));
        else
            forward_udp(s, message, &from);
    }
}

static void peer_free(struct peer *p)
{
    if (p->query)
        dns_query_cancel(p->query);
    (void)loop_source_free(p->source);
    (void)loop_source_free(p->timer);
    list_remove(&p->link);
    p->server->n_peers--;
    (void)close(p->fd);
    buf_done(&p->in);
    buf_done(&p->out);
    free(p);
}

static bool is_behind(const struct peer *p)
{
    return p->out.n > MAX_BEHIND;
}

/* A peer that does not read its answers is not read either, until it does. */
static void peer_send(struct peer *p)
{
    uint32_t events;

    (void)!buf_send(&p->out, p->fd); /* the end of a peer is read, not written */
    events = is_behind(p) ? 0 : EPOLLIN;
    loop_fd_set_events(p->source, p->out.n ? events | EPOLLOUT : events);
}

static void peer_reply(struct peer *p, struct str reply)
{
    buf_addc(&p->out, (char)(reply.n >> 8));
    buf_addc(&p->out, (char)reply.n);
    buf_addstr(&p->out, reply);
    peer_send(p);
}

static void peer_serve(struct peer *p);

static void on_peer_forwarded(void *arg, struct str reply)
{
    struct peer *p = arg;
    AUTO(buf_done) struct buf out = {0};
    size_t n = (size_t)(unsigned char)p->in.p[0] << 8 | (unsigned char)p->in.p[1];

    p->query = NULL;
    if (reply.n == 0)
        add_failure((struct str){p->in.p + 2, n}, false, &out);
    else
        buf_addstr(&out, reply);
    buf_eat(&p->in, 2 + n);
    peer_reply(p, buf_view(&out));
    peer_serve(p);
}

/* One question after the other. */
static void peer_serve(struct peer *p)
{
    while (!p->query && p->in.n >= 2 && !is_behind(p)) {
        AUTO(buf_done) struct buf out = {0};
        size_t n = (size_t)(unsigned char)p->in.p[0] << 8 | (unsigned char)p->in.p[1];
        struct str message = {p->in.p + 2, n};

        if (p->in.n < 2 + n)
            return;
        if (!answer(p->server, message, false, &out)) {
            p->query = dns_forward(p->server->forwarder, message, true, on_peer_forwarded, p);
            return;
        }
        buf_eat(&p->in, 2 + n);
        peer_reply(p, buf_view(&out));
    }
}

static void on_peer(void *arg, int fd, uint32_t events)
{
    struct peer *p = arg;
    char data[4096];
    ssize_t n;

    if (events & EPOLLOUT) {
        peer_send(p);
        peer_serve(p); /* what waited for room */
    }
    if (is_behind(p) && !(events & (EPOLLHUP | EPOLLERR)))
        return;
    n = recv(fd, data, sizeof(data), MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n > 0)
        buf_add(&p->in, data, (size_t)n);
    if (n <= 0 || p->in.overflow) {
        peer_free(p);
        return;
    }
    loop_timer_arm(p->timer, PEER_MS);
    peer_serve(p);
}

static void on_peer_timer(void *arg)
{
    peer_free(arg);
}

static size_t peers_of(const struct dns_server *s, struct in_addr pod)
{
    size_t n = 0;

    LIST_FOR_EACH (p, &s->peers, struct peer, link)
        n += p->from.s_addr == pod.s_addr;
    return n;
}

/* There is no descriptor left: the oldest connection gives way. */
static bool make_room(void *arg)
{
    struct dns_server *s = arg;

    if (list_empty(&s->peers))
        return false;
    peer_free(LIST_ENTRY(s->peers.next, struct peer, link));
    return true;
}

static void on_tcp(void *arg, int c)
{
    struct dns_server *s = arg;
    struct sockaddr_in from = {0};
    socklen_t len = sizeof(from);
    struct peer *p;

    (void)getpeername(c, (struct sockaddr *)&from, &len);
    if (s->n_peers >= MAX_PEERS || peers_of(s, from.sin_addr) >= MAX_PEERS_OF_POD) {
        (void)close(c);
        return;
    }
    p = xcalloc(1, sizeof(*p));
    p->server = s;
    p->from = from.sin_addr;
    p->fd = c;
    buf_init(&p->in, (size_t)2 * 65537);
    list_append(&s->peers, &p->link);
    s->n_peers++;
    p->source = loop_add_fd(s->loop, c, EPOLLIN, on_peer, p);
    p->timer = loop_add_timer(s->loop, on_peer_timer, p);
    loop_timer_arm(p->timer, PEER_MS);
}

static int listen_on(const char *address, uint16_t port, int type, int *ret_fd, struct err *e)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(port)};
    AUTO(close) int fd = socket(AF_INET, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int on = 1;

    if (fd < 0 || inet_pton(AF_INET, address, &at.sin_addr) != 1)
        return err_errno(e, errno, "cannot make a socket for DNS");
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (bind(fd, (struct sockaddr *)&at, sizeof(at)) < 0)
        return err_errno(e, errno, "cannot answer DNS on %s port %u", address, port);
    if (type == SOCK_STREAM && listen(fd, 64) < 0)
        return err_errno(e, errno, "cannot listen on %s port %u", address, port);
    *ret_fd = TAKE_FD(fd);
    return 0;
}

int dns_server_new(struct loop *l, const char *address, uint16_t port, const struct dns_zone *zone,
                   struct dns_server **ret_server, struct err *e)
{
    AUTO(dns_server_free) struct dns_server *s = xcalloc(1, sizeof(*s));
    int r;

    s->loop = l;
    s->zone = zone;
    s->udp = s->tcp = -1;
    list_init(&s->peers);
    list_init(&s->waits);
    r = listen_on(address, port, SOCK_DGRAM, &s->udp, e);
    if (r == 0)
        r = listen_on(address, port, SOCK_STREAM, &s->tcp, e);
    if (r < 0)
        return r;
    s->forwarder = dns_forwarder_new(l, address);
    s->udp_source = loop_add_fd(l, s->udp, EPOLLIN, on_udp, s);
    s->acceptor = acceptor_new(l, s->tcp, on_tcp, make_room, s);
    *ret_server = TAKE(s);
    return 0;
}

struct dns_server *dns_server_free(struct dns_server *s)
{
    if (!s)
        return NULL;
    LIST_FOR_EACH (p, &s->peers, struct peer, link)
        peer_free(p);
    LIST_FOR_EACH (w, &s->waits, struct wait, link)
        wait_free(w);
    (void)dns_forwarder_free(s->forwarder);
    (void)loop_source_free(s->udp_source);
    (void)acceptor_free(s->acceptor);
    if (s->udp >= 0)
        (void)close(s->udp);
    if (s->tcp >= 0)
        (void)close(s->tcp);
    free(s);
    return NULL;
}
