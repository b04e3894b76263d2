/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The peers of a listener: a few connections, driven by a script on the listener's own loop. */
#pragma once

#include "src/loop/loop.h"
#include "tests/fuzz/script.h"

#define PEERS 4

struct peers;

struct peers_target {
    /* Give the listener its end of a new connection, which is taken.  NULL: there is `open`. */
    void (*connect)(void *arg, int fd);
    /* Connect; returns the peer's end, which does not block, or -1. */
    int (*open)(void *arg);
    /* Send what has gathered in another way; false: as it is.  May be NULL. */
    bool (*send)(void *arg, struct peers *p);
    /* Connection i was closed; may be NULL. */
    void (*closed)(void *arg, size_t i);
    /* A step that is not one of those below. */
    void (*step)(void *arg, struct peers *p, char step, unsigned char arg_byte);
    /* What the listener said; may be NULL. */
    void (*heard)(void *arg, struct str data);
    void *arg;
};

/*
 * Steps (the letter, then what the argument byte says):
 *
 *   f n   send what has gathered, and let the loop turn n % 8 + 1 times
 *   c n   go on with connection n % PEERS; it is made when it first sends
 *   e     send, then end sending
 *   r     send, then close, with what is unread
 *   t n   send; n seconds pass
 *   m n   send; n milliseconds pass
 *   d n   n odd: stop reading what comes; even: read again
 *   x n   what has gathered, n + 1 times
 *
 * Capital letters are the target's.
 */
struct peers {
    struct loop *loop;
    struct peers_target target;
    int fds[PEERS]; /* -1: none */
    bool deaf[PEERS];
    size_t now;
    struct buf gathered;
    unsigned int sends; /* how often what had gathered was sent */
};

/* Run a whole script; everything is sent, and all connections are closed, at its end. */
void peers_run(struct loop *l, const struct peers_target *t, const uint8_t *data, size_t size);

/* For steps of targets: send what has gathered, or send it as it is; let the loop turn. */
void peers_send(struct peers *p);
void peers_send_plain(struct peers *p);
void peers_turn(struct peers *p, int turns);

/* An address of 127.0.0.0/8 that is this process's own, for listeners that need one. */
#define PEERS_ADDRESS 16
const char *peers_address(unsigned int host, char ret_text[PEERS_ADDRESS]);
/* Sockets on such addresses: a listener; a connection to one, which is reset when it is closed. */
int peers_listen(int type, unsigned int host, uint16_t port);
int peers_connect(int type, unsigned int host, uint16_t port);
