/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of the name server's sockets: clients that do not listen, or that are too many. */
#include "src/cluster/node/test/parse.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>

#include "src/base/alloc.h"
#include "src/cluster/node/names/dns_server.h"

#define PORT 5399
#define MUCH ((size_t)32 << 20)
#define BATCH 512

/* "x.cluster.local", which is ours and not there, after the length that TCP wants. */
static const char question[] = "\0\x21"
                               "\0\7\1\0\0\1\0\0\0\0\0\0"
                               "\1x\7cluster\5local\0\0\1\0\1";

static struct sockaddr_in own_address(char text[INET_ADDRSTRLEN])
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(PORT)};
    unsigned int pid = (unsigned int)getpid();

    (void)snprintf(text, INET_ADDRSTRLEN, "127.%u.%u.1", pid >> 8 & 255, pid & 255);
    (void)inet_pton(AF_INET, text, &a.sin_addr);
    return a;
}

/* Ask until nobody takes more, or very much was taken.  Returns how many bytes. */
static size_t ask_and_do_not_listen(struct loop *l, int fd)
{
    AUTO(buf_done) struct buf many = {0};
    size_t sent = 0;

    for (int i = 0; i < BATCH; i++)
        buf_add(&many, question, sizeof(question) - 1);
    for (int idle = 0; idle < 5000 && sent < MUCH; idle++) {
        /* where the last send stopped, so that questions stay whole */
        size_t at = sent % many.n;
        ssize_t n = send(fd, many.p + at, many.n - at, MSG_DONTWAIT | MSG_NOSIGNAL);

        if (n > 0) {
            sent += (size_t)n;
            idle = 0;
        }
        (void)loop_turn(l, 0);
    }
    return sent;
}

/* Listen at last.  Returns how many bytes of answers came before it got quiet. */
static size_t listen_now(struct loop *l, int fd)
{
    char data[65536];
    size_t heard = 0;

    for (int idle = 0; idle < 50; idle++) {
        ssize_t n = recv(fd, data, sizeof(data), MSG_DONTWAIT);

        if (n > 0) {
            heard += (size_t)n;
            idle = 0;
        }
        (void)loop_turn(l, 1);
    }
    return heard;
}

static void who_does_not_read_answers_is_not_heard(void **state)
{
    AUTO(loop_free) struct loop *l = NULL;
    AUTO(dns_server_free) struct dns_server *s = NULL;
    struct directory d = {0};
    struct dns_zone z = {.directory = &d, .domain = "cluster.local", .prefix = 16};
    char address[INET_ADDRSTRLEN];
    struct sockaddr_in at = own_address(address);
    AUTO(close) int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    size_t asked, heard, one;
    struct err e = {0};

    (void)state;
    assert_int_equal(loop_new(&l, &e), 0);
    assert_int_equal(dns_server_new(l, address, PORT, &z, &s, &e), 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&at, sizeof(at)), 0);
    assert_int_equal(send(fd, question, sizeof(question) - 1, 0), sizeof(question) - 1);
    one = listen_now(l, fd);
    assert_true(one > 14);
    asked = ask_and_do_not_listen(l, fd);
    assert_true(asked < MUCH); /* what the kernel holds, and no more than a little of ours */
    heard = listen_now(l, fd);
    assert_int_equal(heard, asked / (sizeof(question) - 1) * one);
    directory_done(&d);
}

static int connect_from(unsigned int host, const struct sockaddr_in *to)
{
    struct sockaddr_in from = *to;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    from.sin_port = 0;
    from.sin_addr.s_addr = htonl(ntohl(to->sin_addr.s_addr) + host);
    assert_int_equal(bind(fd, (struct sockaddr *)&from, sizeof(from)), 0);
    assert_int_equal(connect(fd, (const struct sockaddr *)to, sizeof(*to)), 0);
    return fd;
}

/* Is the connection still there after some turns? */
static bool is_kept(struct loop *l, int fd)
{
    char byte;

    for (int i = 0; i < 5; i++)
        (void)loop_turn(l, 1);
    return recv(fd, &byte, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN;
}

static void a_pod_cannot_keep_the_others_out(void **state)
{
    AUTO(loop_free) struct loop *l = NULL;
    AUTO(dns_server_free) struct dns_server *s = NULL;
    struct directory d = {0};
    struct dns_zone z = {.directory = &d, .domain = "cluster.local", .prefix = 16};
    char address[INET_ADDRSTRLEN];
    struct sockaddr_in at = own_address(address);
    int fds[300];
    int kept = 0, other;
    struct err e = {0};

    (void)state;
    assert_int_equal(loop_new(&l, &e), 0);
    assert_int_equal(dns_server_new(l, address, PORT, &z, &s, &e), 0);
    for (size_t i = 0; i < ARRAY_LEN(fds); i++) {
        fds[i] = connect_from(1, &at);
        (void)loop_turn(l, 1);
    }
    for (size_t i = 0; i < ARRAY_LEN(fds); i++)
        kept += is_kept(l, fds[i]);
    assert_in_range(kept, 1, 16);
    other = connect_from(2, &at);
    assert_true(is_kept(l, other));
    for (size_t i = 0; i < ARRAY_LEN(fds); i++)
        (void)close(fds[i]);
    (void)close(other);
    directory_done(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_does_not_read_answers_is_not_heard),
        cmocka_unit_test(a_pod_cannot_keep_the_others_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
