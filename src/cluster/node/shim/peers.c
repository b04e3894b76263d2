/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who is connected to a container's shim, over DIR/shim.sock.
 *
 * A client's first line says what it wants.  "watch": one line for each thing that happens
 * ("started", "exited"), and the end of the connection with the shim's own.  "attach": the streams,
 * as frames of a letter, a length of four bytes (big endian) and so many bytes: 'o' output, 'e'
 * error output, and, from the client, 'i' input, 'x' the end of input, 'r' the size of its terminal
 * (two numbers of two bytes, width first).
 *
 * A client that does not read holds the container up, as a full pipe would, until MAX_WAITING bytes
 * wait for it and it has not read for a while; nobody can make the shim grow.
 */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "src/base/alloc.h"
#include "src/cluster/node/shim/shim.h"

#define MAX_PEERS 32
#define MAX_WAITING ((size_t)1 << 20)
#define MAX_FRAME ((size_t)1 << 20)

enum peer_kind { PEER_NEW, PEER_WATCH, PEER_ATTACH };

struct peer {
    int fd;
    enum peer_kind kind;
    struct buf in;
    struct buf out;
};

struct shim_peers {
    int listener;
    struct peer peers[MAX_PEERS];
    size_t n;
    struct buf history; /* what watchers are told who come later */
    shim_input_fn input;
    shim_resize_fn resize;
    void *arg;
};

/* Paths of sockets are short and state directories may not be: the working directory helps. */
static int listen_at(const char *dir)
{
    struct sockaddr_un un = {.sun_family = AF_UNIX, .sun_path = "shim.sock"};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0 || chdir(dir) < 0)
        shim_die(errno, "cannot listen in '%s'", dir);
    (void)unlink(un.sun_path);
    if (bind(fd, (struct sockaddr *)&un, sizeof(un)) < 0 || listen(fd, 16) < 0)
        shim_die(errno, "cannot listen on '%s/shim.sock'", dir);
    return fd;
}

struct shim_peers *shim_peers_new(const char *dir, shim_input_fn input, shim_resize_fn resize,
                                  void *arg)
{
    struct shim_peers *p = xcalloc(1, sizeof(*p));

    p->listener = listen_at(dir);
    p->input = input;
    p->resize = resize;
    p->arg = arg;
    return p;
}

static void drop(struct shim_peers *p, size_t i)
{
    struct peer *x = &p->peers[i];

    (void)close(x->fd);
    buf_done(&x->in);
    buf_done(&x->out);
    p->peers[i] = p->peers[--p->n];
}

struct shim_peers *shim_peers_free(struct shim_peers *p)
{
    if (!p)
        return NULL;
    while (p->n > 0)
        drop(p, p->n - 1);
    (void)close(p->listener);
    buf_done(&p->history);
    free(p);
    return NULL;
}

/* False: the peer is gone. */
static bool send_waiting(struct peer *x)
{
    while (x->out.n > 0) {
        ssize_t n = send(x->fd, x->out.p, x->out.n, MSG_NOSIGNAL | MSG_DONTWAIT);

        if (n < 0)
            return errno == EAGAIN || errno == EINTR;
        buf_eat(&x->out, (size_t)n);
    }
    return true;
}

void shim_peers_tell(struct shim_peers *p, const char *line)
{
    buf_adds(&p->history, line);
    for (size_t i = p->n; i-- > 0;) {
        if (p->peers[i].kind != PEER_WATCH)
            continue;
        buf_adds(&p->peers[i].out, line);
        if (!send_waiting(&p->peers[i]))
            drop(p, i);
    }
}

static void add_frame(struct buf *b, char kind, struct str data)
{
    unsigned char head[5] = {(unsigned char)kind, (unsigned char)(data.n >> 24),
                             (unsigned char)(data.n >> 16), (unsigned char)(data.n >> 8),
                             (unsigned char)data.n};

    buf_add(b, head, sizeof(head));
    buf_addstr(b, data);
}

void shim_peers_output(struct shim_peers *p, int stream, struct str data)
{
    for (size_t i = p->n; i-- > 0;) {
        if (p->peers[i].kind != PEER_ATTACH)
            continue;
        add_frame(&p->peers[i].out, stream == 2 ? 'e' : 'o', data);
        if (!send_waiting(&p->peers[i]))
            drop(p, i);
    }
}

bool shim_peers_full(const struct shim_peers *p)
{
    for (size_t i = 0; i < p->n; i++)
        if (p->peers[i].out.n > MAX_WAITING)
            return true;
    return false;
}

void shim_peers_flush(struct shim_peers *p)
{
    for (size_t i = p->n; i-- > 0;) {
        struct pollfd wait = {.fd = p->peers[i].fd, .events = POLLOUT};

        while (p->peers[i].out.n > 0 && poll(&wait, 1, 1000) > 0 && send_waiting(&p->peers[i]))
            ;
        drop(p, i);
    }
}

static void take_frame(struct shim_peers *p, char kind, struct str data)
{
    const unsigned char *u = (const unsigned char *)data.p;

    if (kind == 'i')
        p->input(p->arg, data, false);
    else if (kind == 'x')
        p->input(p->arg, data, true);
    else if (kind == 'r' && data.n == 4)
        p->resize(p->arg, (unsigned int)(u[0] << 8 | u[1]), (unsigned int)(u[2] << 8 | u[3]));
}

/* False: what came is no frame. */
static bool take_frames(struct shim_peers *p, struct peer *x)
{
    while (x->in.n >= 5) {
        const unsigned char *u = (const unsigned char *)x->in.p;
        size_t n = (size_t)u[1] << 24 | (size_t)u[2] << 16 | (size_t)u[3] << 8 | u[4];

        if (n > MAX_FRAME)
            return false;
        if (x->in.n < 5 + n)
            return true;
        take_frame(p, (char)u[0], (struct str){x->in.p + 5, n});
        buf_eat(&x->in, 5 + n);
    }
    return true;
}

static bool take_first_line(struct shim_peers *p, struct peer *x)
{
    struct str rest = buf_view(&x->in);
    size_t n = str_find(rest, '\n');

    if (n == rest.n)
        return rest.n < 64;
    if (str_eqz((struct str){rest.p, n}, "watch")) {
        x->kind = PEER_WATCH;
        buf_addstr(&x->out, buf_view(&p->history));
    } else if (str_eqz((struct str){rest.p, n}, "attach")) {
        x->kind = PEER_ATTACH;
    } else {
        return false;
    }
    buf_eat(&x->in, n + 1);
    return true;
}

static bool receive(struct shim_peers *p, struct peer *x)
{
    char data[16384];
    ssize_t n = recv(x->fd, data, sizeof(data), MSG_DONTWAIT);

    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
        return false;
    if (n > 0)
        buf_add(&x->in, data, (size_t)n);
    if (x->kind == PEER_NEW && !take_first_line(p, x))
        return false;
    return x->kind != PEER_ATTACH || take_frames(p, x);
}

static void welcome(struct shim_peers *p)
{
    int fd = accept4(p->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

    if (fd < 0)
        return;
    if (p->n == MAX_PEERS) {
        (void)close(fd);
        return;
    }
    p->peers[p->n] = (struct peer){.fd = fd};
    buf_init(&p->peers[p->n].in, MAX_FRAME * 2);
    p->n++;
}

void shim_peers_add_watcher(struct shim_peers *p, int fd)
{
    p->peers[p->n++] = (struct peer){.fd = fd, .kind = PEER_WATCH};
}

size_t shim_peers_poll(const struct shim_peers *p, struct pollfd *fds, size_t max)
{
    size_t n = 0;

    if (max < p->n + 1)
        return 0;
    fds[n++] = (struct pollfd){.fd = p->listener, .events = POLLIN};
    for (size_t i = 0; i < p->n; i++) {
        fds[n].fd = p->peers[i].fd;
        fds[n++].events = (short)(p->peers[i].out.n > 0 ? POLLIN | POLLOUT : POLLIN);
    }
    return n;
}

void shim_peers_serve(struct shim_peers *p, const struct pollfd *fds, size_t n)
{
    for (size_t i = n; i-- > 1;) {
        struct peer *x = &p->peers[i - 1];
        bool alive = i - 1 < p->n;

        if (alive && fds[i].revents & (POLLIN | POLLHUP | POLLERR))
            alive = receive(p, x);
        if (alive)
            alive = send_waiting(x);
        if (!alive && i - 1 < p->n)
            drop(p, i - 1);
    }
    if (n > 0 && fds[0].revents & POLLIN)
        welcome(p);
}
