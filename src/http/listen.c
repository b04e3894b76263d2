/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Listening sockets: TCP and Unix.
 *
 * Addresses are numeric; no name is looked up, since that would block.  A Unix socket gets mode
 * 0600 before it appears.  A path that a dead server left behind is replaced: it is asked first,
 * and one that answers is left alone.
 */
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "src/base/alloc.h"
#include "src/http/internal.h"

#define BACKLOG 4096

static void accepted(void *arg, int fd)
{
    struct listener *l = arg;

    server_take(l->server, fd);
}

static bool out_of_descriptors(void *arg)
{
    struct listener *l = arg;

    return room_free_one(l->server);
}

struct listener *listener_free(struct listener *l)
{
    if (!l)
        return NULL;
    l->acceptor = acceptor_free(l->acceptor);
    if (l->fd >= 0)
        (void)close(l->fd);
    if (l->path)
        (void)unlink(l->path);
    free(l->path);
    free(l);
    return NULL;
}

static int bind_and_listen(int fd, const struct sockaddr *addr, socklen_t n, const char *address,
                           struct err *e)
{
    if (bind(fd, addr, n) < 0)
        return err_errno(e, errno, "cannot bind to '%s'", address);
    if (listen(fd, BACKLOG) < 0)
        return err_errno(e, errno, "cannot listen on '%s'", address);
    return 0;
}

/* Is there a socket at that path on which nobody listens? */
static bool dead_socket(const struct sockaddr_un *addr)
{
    AUTO(close) int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    struct stat st;

    if (fd < 0 || lstat(addr->sun_path, &st) < 0 || !S_ISSOCK(st.st_mode))
        return false;
    return connect(fd, (const struct sockaddr *)addr, sizeof(*addr)) < 0 && errno == ECONNREFUSED;
}

static int listen_unix(struct listener *l, const char *path, struct err *e)
{
    struct sockaddr_un addr = {.sun_family = AF_UNIX};
    size_t n = strlen(path);
    int r;

    if (n == 0 || n >= sizeof(addr.sun_path))
        return err_bad(e, "socket path '%s' is empty or longer than %zu bytes", path,
                       sizeof(addr.sun_path) - 1);
    memcpy(addr.sun_path, path, n + 1);
    if (dead_socket(&addr))
        (void)unlink(path);
    l->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (l->fd < 0)
        return err_errno(e, errno, "cannot make a Unix socket");
    (void)fchmod(l->fd, 0600);
    r = bind_and_listen(l->fd, (struct sockaddr *)&addr, sizeof(addr), path, e);
    if (r == 0)
        l->path = xstrdup(path);
    return r;
}

/* Cut "host:port" or "[host]:port"; both point into text. */
static int split_address(char *text, const char **ret_host, const char **ret_port)
{
    char *colon = strrchr(text, ':');
    uint32_t port;
    size_t n;

    if (!colon || str_to_u32(str_of(colon + 1), &port) < 0 || port > 65535)
        return -EINVAL;
    *colon = '\0';
    n = strlen(text);
    if (text[0] == '[' && n > 1 && text[n - 1] == ']') {
        text[n - 1] = '\0';
        text++;
    } else if (strchr(text, ':')) {
        return -EINVAL;
    }
    *ret_host = text;
    *ret_port = colon + 1;
    return 0;
}

static int port_of(int fd)
{
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } addr = {0};
    socklen_t n = sizeof(addr);

    if (getsockname(fd, &addr.any, &n) < 0)
        return 0;
    return ntohs(addr.any.sa_family == AF_INET6 ? addr.v6.sin6_port : addr.v4.sin_port);
}

static int listen_tcp(struct listener *l, const char *address, struct err *e)
{
    const struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE,
                                   .ai_socktype = SOCK_STREAM};
    AUTO(free) char *text = xstrdup(address);
    const char *host, *port;
    struct addrinfo *found = NULL;
    int on = 1;
    int r;

    if (split_address(text, &host, &port) < 0 || getaddrinfo(host, port, &hints, &found) != 0)
        return err_bad(e, "'%s' is not a numeric address and port", address);
    l->fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (l->fd < 0) {
        r = err_errno(e, errno, "cannot make a socket for '%s'", address);
    } else {
        (void)setsockopt(l->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
        r = bind_and_listen(l->fd, found->ai_addr, found->ai_addrlen, address, e);
    }
    freeaddrinfo(found);
    l->port = r == 0 ? port_of(l->fd) : 0;
    return r;
}

int listener_new(struct http_server *s, const char *address, struct listener **ret, struct err *e)
{
    AUTO(listener_free) struct listener *l = xcalloc(1, sizeof(*l));
    int r;

    l->server = s;
    l->fd = -1;
    if (starts_with(address, "unix:"))
        r = listen_unix(l, address + strlen("unix:"), e);
    else
        r = listen_tcp(l, address, e);
    if (r < 0)
        return r;
    l->acceptor = acceptor_new(s->loop, l->fd, accepted, out_of_descriptors, l);
    *ret = TAKE(l);
    return 0;
}
