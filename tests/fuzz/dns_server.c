/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz target: the pods' name server, with its sockets, its clients over TCP and what it forwards.
 *
 * What a script sends goes over TCP; step U sends what has gathered as one datagram.  The machine's
 * own name server is played here: step A n answers its oldest question over UDP with what has
 * gathered (n odd: under the right number), step B does so over TCP, step C closes that connection.
 *
 * The linker has calls of connect and file_read end here, so that port 53 and /etc/resolv.conf are
 * ours, and nothing leaves the process's own addresses.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>

#include "src/base/alloc.h"
#include "src/base/file.h"
#include "src/cluster/node/names/dns_server.h"
#include "tests/fuzz/peers.h"

#define SERVER_HOST 1
#define UPSTREAM_HOST 2
#define PORT 5353

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int __real_connect(int fd, const struct sockaddr *to, socklen_t n);
int __wrap_connect(int fd, const struct sockaddr *to, socklen_t n);
int __real_file_read(const char *path, size_t max, char **ret_text, size_t *ret_n, struct err *e);
int __wrap_file_read(const char *path, size_t max, char **ret_text, size_t *ret_n, struct err *e);

/* The name server that others are asked through. */
struct world {
    int udp;
    int tcp;
    int conn; /* over TCP; -1: none */
};

int __wrap_connect(int fd, const struct sockaddr *to, socklen_t n)
{
    struct sockaddr_in a;

    if (to->sa_family != AF_INET || n != sizeof(a))
        return __real_connect(fd, to, n);
    memcpy(&a, to, sizeof(a));
    if (a.sin_port == htons(53))
        a.sin_port = htons(PORT);
    return __real_connect(fd, (const struct sockaddr *)&a, sizeof(a));
}

int __wrap_file_read(const char *path, size_t max, char **ret_text, size_t *ret_n, struct err *e)
{
    char address[PEERS_ADDRESS];

    if (!streq(path, "/etc/resolv.conf"))
        return __real_file_read(path, max, ret_text, ret_n, e);
    *ret_text = xasprintf("nameserver %s\n", peers_address(UPSTREAM_HOST, address));
    *ret_n = strlen(*ret_text);
    return 0;
}

static void fill(struct directory *d)
{
    static const char *const texts[] = {
        "{\"metadata\":{\"name\":\"a\",\"namespace\":\"n\"},\"spec\":{\"hostname\":\"h\","
        "\"subdomain\":\"s\"},\"status\":{\"podIP\":\"10.131.0.2\"}}",
        "{\"metadata\":{\"name\":\"s\",\"namespace\":\"n\"},\"spec\":{\"clusterIP\":\"10.96.0.1\","
        "\"ports\":[{\"name\":\"p\",\"port\":1}]}}"};
    struct jsn *v = NULL;

    if (jsn_parse(&d->arena, str_of(texts[0]), NULL, &v, NULL) == 0)
        directory_add_pod(d, v);
    if (jsn_parse(&d->arena, str_of(texts[1]), NULL, &v, NULL) == 0)
        directory_add_service(d, v);
}

static int open_tcp(void *arg)
{
    (void)arg;
    return peers_connect(SOCK_STREAM, SERVER_HOST, PORT);
}

static void send_datagram(struct peers *p)
{
    int fd = peers_connect(SOCK_DGRAM, SERVER_HOST, PORT);

    (void)!send(fd, buf_str(&p->gathered), MIN(p->gathered.n, (size_t)65000), 0);
    peers_turn(p, 8);
    (void)close(fd);
}

static void answer_udp(struct world *w, struct peers *p, bool right)
{
    struct sockaddr_in from;
    socklen_t len = sizeof(from);
    char question[65536];
    ssize_t n = recvfrom(w->udp, question, sizeof(question), 0, (struct sockaddr *)&from, &len);

    if (n < 0)
        return;
    if (right && n >= 2 && p->gathered.n >= 2)
        memcpy(p->gathered.p, question, 2);
    (void)!sendto(w->udp, buf_str(&p->gathered), MIN(p->gathered.n, (size_t)65000), 0,
                  (struct sockaddr *)&from, len);
}

static void close_conn(struct world *w)
{
    if (w->conn >= 0)
        (void)close(TAKE_FD(w->conn));
}

static void answer_tcp(struct world *w, struct peers *p)
{
    char question[4096];

    if (w->conn < 0)
        w->conn = accept4(w->tcp, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (w->conn < 0)
        return;
    while (recv(w->conn, question, sizeof(question), 0) > 0)
        ;
    (void)!send(w->conn, buf_str(&p->gathered), p->gathered.n, MSG_NOSIGNAL);
}

static void take_step(void *arg, struct peers *p, char step, unsigned char n)
{
    struct world *w = arg;

    if (step == 'U')
        send_datagram(p);
    else if (step == 'A')
        answer_udp(w, p, n % 2);
    else if (step == 'B')
        answer_tcp(w, p);
    else if (step == 'C')
        close_conn(w);
    buf_clear(&p->gathered);
    peers_turn(p, 8);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(loop_free) struct loop *loop = NULL;
    AUTO(dns_server_free) struct dns_server *server = NULL;
    struct directory d = {0};
    struct dns_zone z = {
        .directory = &d, .domain = "cluster.local", .base = 0x0a830000, .prefix = 16};
    struct world w = {.conn = -1};
    struct peers_target t = {.open = open_tcp, .step = take_step, .arg = &w};
    char address[PEERS_ADDRESS];

    script_clock_reset();
    fill(&d);
    w.udp = peers_listen(SOCK_DGRAM, UPSTREAM_HOST, PORT);
    w.tcp = peers_listen(SOCK_STREAM, UPSTREAM_HOST, PORT);
    if (loop_new(&loop, NULL) < 0 ||
        dns_server_new(loop, peers_address(SERVER_HOST, address), PORT, &z, &server, NULL) < 0)
        abort();
    peers_run(loop, &t, data, size);
    server = dns_server_free(server);
    close_conn(&w);
    (void)close(w.udp);
    (void)close(w.tcp);
    directory_done(&d);
    return 0;
}
