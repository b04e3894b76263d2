/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz target: the relay between pods and the API server.
 *
 * Pods are the script's peers; the API server is played here: step A takes the oldest connection
 * that the relay has made, step B sends what has gathered on it, step H ends sending, step C closes
 * it, step G n stops (n odd) listening altogether or listens again.
 *
 * What must hold: bytes arrive in order and none twice, in both directions, as far as they arrive.
 */
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>

#include "src/base/alloc.h"
#include "src/cluster/node/network/api_relay.h"
#include "tests/fuzz/peers.h"

#define RELAY_HOST 1
#define SERVER_HOST 2
#define PORT 5354

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct world {
    struct api_relay *relay;
    int listener; /* -1: closed */
    int conn;
};

static int open_pod(void *arg)
{
    struct world *w = arg;

    return peers_connect(SOCK_STREAM, RELAY_HOST, api_relay_port(w->relay));
}

static void hear(struct world *w)
{
    char data[32768];

    while (w->conn >= 0 && recv(w->conn, data, sizeof(data), 0) > 0)
        ;
}

static void close_fd(int *fd)
{
    if (*fd >= 0)
        (void)close(*fd);
    *fd = -1;
}

static void take_step(void *arg, struct peers *p, char step, unsigned char n)
{
    struct world *w = arg;

    if (step == 'A') {
        peers_send(p);
        close_fd(&w->conn);
        w->conn = w->listener < 0 ? -1 : accept4(w->listener, NULL, NULL, SOCK_NONBLOCK);
    } else if (step == 'B' && w->conn >= 0) {
        (void)!send(w->conn, buf_str(&p->gathered), p->gathered.n, MSG_NOSIGNAL);
        buf_clear(&p->gathered);
    } else if (step == 'H' && w->conn >= 0) {
        (void)shutdown(w->conn, SHUT_WR);
    } else if (step == 'C') {
        close_fd(&w->conn);
    } else if (step == 'G') {
        close_fd(&w->listener);
        w->listener = n % 2 ? -1 : peers_listen(SOCK_STREAM, SERVER_HOST, PORT);
    } else if (step == 'R') {
        hear(w);
    }
    peers_turn(p, 8);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(loop_free) struct loop *loop = NULL;
    struct world w = {.conn = -1};
    struct peers_target t = {.open = open_pod, .step = take_step, .arg = &w};
    char address[PEERS_ADDRESS], server[64];

    script_clock_reset();
    (void)snprintf(server, sizeof(server), "https://%s:%d", peers_address(SERVER_HOST, address),
                   PORT);
    w.listener = peers_listen(SOCK_STREAM, SERVER_HOST, PORT);
    if (loop_new(&loop, NULL) < 0 ||
        api_relay_new(loop, peers_address(RELAY_HOST, address), server, &w.relay, NULL) < 0)
        abort();
    peers_run(loop, &t, data, size);
    w.relay = api_relay_free(w.relay);
    close_fd(&w.conn);
    close_fd(&w.listener);
    return 0;
}
