/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who is at the other end of a connection, as far as the kernel knows. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

struct peer {
    char *text;    /* "127.0.0.1:4711", or "unix:uid=0,pid=17" */
    char *account; /* whose share of connections this takes: "uid 1000", "10.1.2.3" */
    bool trusted;  /* root of this machine, or who runs this process */
};

/* Both strings of *ret_peer are owned by the caller. */
void peer_learn(int fd, struct peer *ret_peer);

/* Who made the other end of a TCP connection within this machine; -ENOENT: nobody knows. */
int peer_tcp_uid(int fd, uid_t *ret_uid);
