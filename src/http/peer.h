/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who is at the other end of a connection, as far as the kernel knows. */
#pragma once

#include <netinet/in.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/types.h>

struct peer {
    char *text;    /* "127.0.0.1:4711", or "unix:uid=0,pid=17" */
    char *account; /* whose share of connections this takes: "uid 1000", "10.1.2.3" */
    bool trusted;  /* root of this machine, or who runs this process */
};

/* Both strings of *ret_peer are owned by the caller. */
void peer_learn(int fd, struct peer *ret_peer);

union peer_address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    struct sockaddr_storage room;
};

/* Who made the end `theirs` of a TCP connection within this machine, whose other end is `ours`;
 * -ENOENT: nobody knows. */
int peer_tcp_uid(const union peer_address *theirs, const union peer_address *ours, uid_t *ret_uid);
