/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of the relay to the API server: pods that want more than their part. */
#include "src/cluster/node/test/parse.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>

#include "src/cluster/node/network/api_relay.h"

#define PORT 5398
#define PODS_MOST 128

/* An address of this process's own. */
static struct sockaddr_in own(unsigned int host, uint16_t port, char text[INET_ADDRSTRLEN])
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port)};
    unsigned int pid = (unsigned int)getpid();

    (void)snprintf(text, INET_ADDRSTRLEN, "127.%u.%u.%u", pid >> 8 & 255, pid & 255, host);
    (void)inet_pton(AF_INET, text, &a.sin_addr);
    return a;
}

static int listen_as_server(char text[INET_ADDRSTRLEN])
{
    struct sockaddr_in a = own(2, PORT, text);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
    assert_int_equal(listen(fd, 512), 0);
    return fd;
}

static int connect_as(unsigned int pod, const struct api_relay *r)
{
    char text[INET_ADDRSTRLEN];
    struct sockaddr_in from = own(pod, 0, text), to = own(1, api_relay_port(r), text);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_int_equal(bind(fd, (struct sockaddr *)&from, sizeof(from)), 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
    return fd;
}

static bool is_kept(struct loop *l, int fd)
{
    char byte;

    for (int i = 0; i < 3; i++)
        (void)loop_turn(l, 1);
    return recv(fd, &byte, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN;
}

static void a_pod_cannot_keep_the_others_out(void **state)
{
    AUTO(loop_free) struct loop *l = NULL;
    struct api_relay *r = NULL;
    char text[INET_ADDRSTRLEN], url[64];
    int fds[PODS_MOST + 20];
    int kept = 0, other, server = listen_as_server(text);
    struct err e = {0};

    (void)state;
    (void)snprintf(url, sizeof(url), "https://%s:%d", text, PORT);
    assert_int_equal(loop_new(&l, &e), 0);
    (void)own(1, 0, text);
    assert_int_equal(api_relay_new(l, text, url, &r, &e), 0);
    for (size_t i = 0; i < ARRAY_LEN(fds); i++) {
        fds[i] = connect_as(3, r);
        (void)loop_turn(l, 1);
    }
    for (size_t i = 0; i < ARRAY_LEN(fds); i++)
        kept += is_kept(l, fds[i]);
    assert_int_equal(kept, PODS_MOST);
    other = connect_as(4, r);
    assert_true(is_kept(l, other));
    for (size_t i = 0; i < ARRAY_LEN(fds); i++)
        (void)close(fds[i]);
    (void)close(other);
    r = api_relay_free(r);
    (void)close(server);
}

static void the_server_sees_an_address_for_each_pod(void **state)
{
    AUTO(loop_free) struct loop *l = NULL;
    struct api_relay *r = NULL;
    char text[INET_ADDRSTRLEN], url[64];
    in_addr_t seen[2];
    int fds[2];
    int server = listen_as_server(text);
    struct err e = {0};

    (void)state;
    (void)snprintf(url, sizeof(url), "https://%s:%d", text, PORT);
    assert_int_equal(loop_new(&l, &e), 0);
    (void)own(1, 0, text);
    assert_int_equal(api_relay_new(l, text, url, &r, &e), 0);
    for (unsigned int i = 0; i < 2; i++) {
        struct sockaddr_in from = {0};
        socklen_t n = sizeof(from);
        int fd;

        fds[i] = connect_as(3 + i, r);
        assert_true(is_kept(l, fds[i]));
        fd = accept(server, (struct sockaddr *)&from, &n);
        assert_true(fd >= 0);
        seen[i] = ntohl(from.sin_addr.s_addr);
        assert_int_equal(seen[i] >> 23, 0x7F800000U >> 23); /* 127.128.0.0/9, so never 127.0.0.1 */
        assert_int_equal(seen[i] & 255, 3 + i);
        (void)close(fd);
    }
    assert_int_not_equal(seen[0], seen[1]);
    (void)close(fds[0]);
    (void)close(fds[1]);
    (void)close(server);
    (void)api_relay_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pod_cannot_keep_the_others_out),
        cmocka_unit_test(the_server_sees_an_address_for_each_pod),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
