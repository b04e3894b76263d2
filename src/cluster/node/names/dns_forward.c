/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Forwarding: each question gets a socket of its own, connected to a server of the machine's
 * /etc/resolv.conf (read again at most once in five seconds); a server that is silent for two
 * seconds is followed by the next.  Answers are passed back as they are.
 */
#include "src/cluster/node/names/dns_forward.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "src/base/alloc.h"
#include "src/base/buf.h"
#include "src/base/file.h"
#include "src/base/list.h"

#define MAX_SERVERS 3
#define MAX_QUERIES 512
#define PATIENCE_MS 2000
#define REREAD_MS 5000

struct dns_forwarder {
    struct loop *loop;
    char *except;
    struct in_addr servers[MAX_SERVERS];
    size_t n;
    int64_t read_ms;
    struct list queries;
    size_t n_queries;
};

struct dns_query {
    struct dns_forwarder *forwarder;
    struct list link;
    bool tcp;
    struct buf message; /* with its length in front, for TCP */
    size_t sent;
    struct buf answer;
    size_t server; /* the next one to ask */
    int fd;
    struct loop_source *source;
    struct loop_source *timer;
    dns_forward_fn fn;
    void *arg;
};

static void ask_next(struct dns_query *q);

struct dns_forwarder *dns_forwarder_new(struct loop *l, const char *except)
{
    struct dns_forwarder *f = xcalloc(1, sizeof(*f));

    f->loop = l;
    f->except = xstrdup(except);
    f->read_ms = -REREAD_MS;
    list_init(&f->queries);
    return f;
}

static void close_socket(struct dns_query *q)
{
    q->source = loop_source_free(q->source);
    if (q->fd >= 0)
        (void)close(TAKE_FD(q->fd));
}

void dns_query_cancel(struct dns_query *q)
{
    close_socket(q);
    (void)loop_source_free(q->timer);
    list_remove(&q->link);
    q->forwarder->n_queries--;
    buf_done(&q->message);
    buf_done(&q->answer);
    free(q);
}

struct dns_forwarder *dns_forwarder_free(struct dns_forwarder *f)
{
    if (!f)
        return NULL;
    LIST_FOR_EACH (q, &f->queries, struct dns_query, link)
        dns_query_cancel(q);
    free(f->except);
    free(f);
    return NULL;
}

static void read_servers(struct dns_forwarder *f)
{
    AUTO(free) char *text = NULL;
    struct str rest, line;
    size_t n;

    if (loop_now_ms(f->loop) - f->read_ms < REREAD_MS ||
        file_read("/etc/resolv.conf", 65536, &text, &n, NULL) < 0)
        return;
    f->read_ms = loop_now_ms(f->loop);
    f->n = 0;
    rest = (struct str){text, n};
    while (f->n < MAX_SERVERS && str_split(&rest, '\n', &line)) {
        struct str word;

        line = str_trim(line);
        if (!str_split(&line, ' ', &word) || !str_eqz(word, "nameserver") || !line.p)
            continue;
        AUTO(free) char *address = str_dup(str_trim(line));
        if (!streq(address, f->except) && inet_pton(AF_INET, address, &f->servers[f->n]) == 1)
            f->n++;
    }
}

static void finish(struct dns_query *q, struct str answer)
{
    dns_forward_fn fn = q->fn;
    void *arg = q->arg;
    AUTO(buf_done) struct buf copy = {0};

    buf_addstr(&copy, answer);
    dns_query_cancel(q);
    fn(arg, buf_view(&copy));
}

static void on_timer(void *arg)
{
    ask_next(arg);
}

static void on_udp(struct dns_query *q)
{
    char data[65536];
    ssize_t n = recv(q->fd, data, sizeof(data), MSG_DONTWAIT);

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n < 2 || memcmp(data, q->message.p, 2) != 0)
        ask_next(q);
    else
        finish(q, (struct str){data, (size_t)n});
}

static void on_tcp(struct dns_query *q, uint32_t events)
{
    char data[16384];
    ssize_t n;

    if (events & EPOLLOUT && q->sent < q->message.n) {
        n = send(q->fd, q->message.p + q->sent, q->message.n - q->sent, MSG_NOSIGNAL);
        if (n < 0 && errno != EAGAIN) {
            ask_next(q);
            return;
        }
        q->sent += n > 0 ? (size_t)n : 0;
        if (q->sent == q->message.n)
            loop_fd_set_events(q->source, EPOLLIN);
        return;
    }
    n = recv(q->fd, data, sizeof(data), MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        ask_next(q);
        return;
    }
    buf_add(&q->answer, data, (size_t)n);
    if (q->answer.n >= 2) {
        const unsigned char *u = (const unsigned char *)q->answer.p;
        size_t want = (size_t)u[0] << 8 | u[1];

        if (q->answer.n >= 2 + want)
            finish(q, (struct str){q->answer.p + 2, want});
    }
}

static void on_socket(void *arg, int fd, uint32_t events)
{
    struct dns_query *q = arg;

    (void)fd;
    if (q->tcp)
        on_tcp(q, events);
    else
        on_udp(q);
}

/* Ask one server; false: it cannot even be asked. */
static bool ask(struct dns_query *q, struct in_addr server)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(53), .sin_addr = server};
    int type = q->tcp ? SOCK_STREAM : SOCK_DGRAM;

    q->fd = socket(AF_INET, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (q->fd < 0)
        return false;
    if (connect(q->fd, (struct sockaddr *)&to, sizeof(to)) < 0 && errno != EINPROGRESS)
        return false;
    if (!q->tcp && send(q->fd, q->message.p, q->message.n, MSG_NOSIGNAL) < 0)
        return false;
    q->source =
        loop_add_fd(q->forwarder->loop, q->fd, q->tcp ? EPOLLOUT | EPOLLIN : EPOLLIN, on_socket, q);
    loop_timer_arm(q->timer, PATIENCE_MS);
    return true;
}

static void ask_next(struct dns_query *q)
{
    close_socket(q);
    q->sent = 0;
    buf_clear(&q->answer);
    while (q->server < q->forwarder->n) {
        if (ask(q, q->forwarder->servers[q->server++]))
            return;
        close_socket(q);
    }
    finish(q, (struct str){"", 0});
}

struct dns_query *dns_forward(struct dns_forwarder *f, struct str message, bool tcp,
                              dns_forward_fn fn, void *arg)
{
    struct dns_query *q = xcalloc(1, sizeof(*q));

    read_servers(f);
    *q = (struct dns_query){.forwarder = f, .tcp = tcp, .fd = -1, .fn = fn, .arg = arg};
    buf_init(&q->answer, 65537 + 2);
    if (tcp) {
        buf_addc(&q->message, (char)(message.n >> 8));
        buf_addc(&q->message, (char)message.n);
    }
    buf_addstr(&q->message, message);
    list_append(&f->queries, &q->link);
    f->n_queries++;
    q->timer = loop_add_timer(f->loop, on_timer, q);
    if (f->n_queries > MAX_QUERIES)
        q->server = MAX_SERVERS;
    loop_timer_arm(q->timer, 0);
    return q;
}
