/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Peers of a listener.
 *
 * Each connection is a pair of sockets in this process; listener and peers take turns on one
 * thread, so that a run depends on nothing but its script.  What a listener does not take after
 * some turns is dropped: it may well have stopped reading.
 */
#include "tests/fuzz/peers.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>

#define MAX_GATHERED ((size_t)1 << 20)
#define MAX_TURNS 16
#define SMALL_SOCKET 4096

static void hear(struct peers *p, size_t i)
{
    static char data[65536];
    ssize_t n;

    while (p->fds[i] >= 0 && !p->deaf[i] && (n = recv(p->fds[i], data, sizeof(data), 0)) > 0)
        if (p->target.heard)
            p->target.heard(p->target.arg, (struct str){data, (size_t)n});
}

void peers_turn(struct peers *p, int turns)
{
    for (int i = 0; i < turns; i++) {
        int called = loop_turn(p->loop, 0);

        for (size_t k = 0; k < PEERS; k++)
            hear(p, k);
        if (!called)
            return;
    }
}

/* Small buffers, so that a listener meets a peer that takes no more. */
static void open_pair(struct peers *p)
{
    int pair[2];
    int size = SMALL_SOCKET;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) < 0)
        abort();
    (void)setsockopt(pair[1], SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
    p->fds[p->now] = pair[0];
    p->target.connect(p->target.arg, pair[1]);
}

static void open_peer(struct peers *p)
{
    p->deaf[p->now] = false;
    if (p->target.open)
        p->fds[p->now] = p->target.open(p->target.arg);
    else
        open_pair(p);
    peers_turn(p, MAX_TURNS);
}

void peers_send_plain(struct peers *p)
{
    struct buf *b = &p->gathered;

    if (p->fds[p->now] < 0)
        open_peer(p);
    for (int i = 0; i < MAX_TURNS && b->n > 0 && p->fds[p->now] >= 0; i++) {
        if (buf_send(b, p->fds[p->now]) < 0)
            break;
        peers_turn(p, MAX_TURNS);
    }
    buf_clear(b);
    p->sends++;
    peers_turn(p, MAX_TURNS);
}

void peers_send(struct peers *p)
{
    if (!p->target.send || !p->target.send(p->target.arg, p))
        peers_send_plain(p);
}

static void close_peer(struct peers *p, size_t i)
{
    if (p->fds[i] < 0)
        return;
    (void)close(TAKE_FD(p->fds[i]));
    if (p->target.closed)
        p->target.closed(p->target.arg, i);
}

static void pass_time(struct peers *p, int64_t ms)
{
    script_clock_advance(ms);
    peers_turn(p, MAX_TURNS);
}

static void repeat(struct peers *p, unsigned char n)
{
    size_t once = p->gathered.n;

    for (unsigned char i = 0; i < n && p->gathered.n + once <= MAX_GATHERED; i++) {
        char *room = buf_room(&p->gathered, once);

        memcpy(room, p->gathered.p, once);
        buf_grew(&p->gathered, once);
    }
}

static void take_step(struct peers *p, char step, unsigned char arg)
{
    if (step != 'x' && step >= 'a' && step <= 'z')
        peers_send(p);
    switch (step) {
    case 'f':
        peers_turn(p, arg % 8 + 1);
        break;
    case 'c':
        p->now = arg % PEERS;
        break;
    case 'e':
        if (p->fds[p->now] >= 0)
            (void)shutdown(p->fds[p->now], SHUT_WR);
        peers_turn(p, MAX_TURNS);
        break;
    case 'r':
        close_peer(p, p->now);
        peers_turn(p, MAX_TURNS);
        break;
    case 't':
        pass_time(p, (int64_t)arg * 1000);
        break;
    case 'm':
        pass_time(p, arg);
        break;
    case 'd':
        p->deaf[p->now] = arg % 2;
        break;
    case 'x':
        repeat(p, arg);
        break;
    default:
        if (p->target.step)
            p->target.step(p->target.arg, p, step, arg);
    }
}

void peers_run(struct loop *l, const struct peers_target *t, const uint8_t *data, size_t size)
{
    struct peers p = {.loop = l, .target = *t, .fds = {-1, -1, -1, -1}};
    struct script_item item;
    struct script s;

    script_init(&s, data, size);
    while ((item = script_next(&s)).kind != SCRIPT_END) {
        if (item.kind == SCRIPT_STEP)
            take_step(&p, item.step, item.arg);
        else if (p.gathered.n + item.bytes.n <= MAX_GATHERED)
            buf_addstr(&p.gathered, item.bytes);
    }
    peers_send(&p);
    for (size_t i = 0; i < PEERS; i++)
        close_peer(&p, i);
    peers_turn(&p, MAX_TURNS);
    buf_done(&p.gathered);
}

const char *peers_address(unsigned int host, char ret_text[PEERS_ADDRESS])
{
    unsigned int pid = (unsigned int)getpid();

    (void)snprintf(ret_text, PEERS_ADDRESS, "127.%u.%u.%u", pid >> 8 & 255, pid & 255, host & 255);
    return ret_text;
}

static struct sockaddr_in address_of(unsigned int host, uint16_t port)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port)};
    char text[PEERS_ADDRESS];

    (void)inet_pton(AF_INET, peers_address(host, text), &a.sin_addr);
    return a;
}

/* Closing it resets the connection, so that no port is kept waiting for the end of a run. */
static void set_reset(int fd)
{
    struct linger l = {.l_onoff = 1};

    (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &l, sizeof(l));
}

int peers_listen(int type, unsigned int host, uint16_t port)
{
    int fd = socket(AF_INET, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    struct sockaddr_in a = address_of(host, port);
    int on = 1;

    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    set_reset(fd);
    if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof(a)) < 0 ||
        (type == SOCK_STREAM && listen(fd, 64) < 0))
        abort();
    return fd;
}

int peers_connect(int type, unsigned int host, uint16_t port)
{
    int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);
    struct sockaddr_in a = address_of(host, port);

    set_reset(fd);
    if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof(a)) < 0) {
        (void)close(fd);
        return -1;
    }
    (void)fcntl(fd, F_SETFL, O_NONBLOCK);
    return fd;
}
