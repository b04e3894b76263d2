/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of the server share; nobody else includes it. */
#pragma once

#include "src/base/crowd.h"
#include "src/base/list.h"
#include "src/http/chunk.h"
#include "src/http/head.h"
#include "src/http/peer.h"
#include "src/http/server.h"
#include "src/http/transport.h"
#include "src/loop/acceptor.h"

#define SCRATCH_BYTES 32768
#define DRAIN_BELOW_BYTES 65536
#define MAX_LISTENERS 8

enum conn_state {
    CONN_HANDSHAKE,
    CONN_IDLE,   /* between requests */
    CONN_HEAD,   /* a request has begun */
    CONN_BODY,   /* its body is arriving */
    CONN_ANSWER, /* the handler has it */
    CONN_RAW,    /* upgraded */
    CONN_FLUSH,  /* nothing more will be said; what is queued goes out */
    CONN_LINGER, /* all said; waits for the peer to read it and close */
    CONN_DEAD,
};

/* The part of a connection that matters once it is upgraded. */
struct http_raw {
    http_raw_data_fn on_data;
    loop_defer_fn on_close;
    void *arg;
    bool paused;
};

/* An upgraded connection is not read while more than this waits to be sent. */
#define RAW_BACKLOG_BYTES ((size_t)8 << 20)

struct conn {
    struct http_server *server;
    struct list link;  /* in server->conns */
    struct list dirty; /* in server->dirty: has output, or must be closed, at the end of the turn */
    struct list again; /* in server->again: has input to look at in the next turn */
    enum conn_state state;
    struct transport transport;
    struct loop_source *source;
    struct loop_source *timer;
    int64_t deadline_ms; /* of the state; INT64_MAX: none */
    int64_t timer_ms;    /* when the timer fires, if armed */

    struct buf in;   /* not yet understood */
    size_t in_seen;  /* of it, without the end of a head */
    bool in_advance; /* conn_advance is running */
    struct buf out;  /* out.p + out_sent ... is not yet sent */
    size_t out_sent;
    bool blocked;      /* the socket takes no more for now */
    bool close_after;  /* no further request */
    bool unread_input; /* closing would lose what the peer still sends: linger */
    bool doomed;       /* must be closed at the end of the turn */

    struct http_exchange *exchange; /* of BODY and ANSWER */
    struct peer peer;
    char *tls_cn;
    char **tls_orgs;
    char *tls_sha256;

    struct crowd_member member; /* of server->strangers or server->known */
    bool known;                 /* its last request had credentials */
    size_t stranger_bytes;      /* of bodies that came without any */
    size_t body_bytes;          /* of server->bodies_bytes, reserved for the body of this request */
    struct list body_wait;      /* in server->body_waits: not read until there is room */

    struct http_raw raw;
    loop_defer_fn on_drain; /* of a stream or an upgraded connection */
    void *on_drain_arg;
};

struct http_exchange {
    struct conn *conn;
    struct http_head head;
    struct http_request request;
    struct buf body;
    struct chunk_decoder chunks;
    bool is_head;   /* HEAD: no body in the answer */
    bool streaming; /* http_stream_begin was called */
    bool chunked;   /* ... with chunks, not until the end of the connection */
    loop_defer_fn on_close;
    void *on_close_arg;
};

struct listener {
    struct http_server *server;
    int fd;
    struct acceptor *acceptor;
    char *path; /* of a Unix socket, removed at the end */
    int port;
};

struct http_server {
    struct loop *loop;
    struct http_server_options options;
    struct http_limits limits;
    struct list conns;
    struct list dirty;
    struct list again;
    unsigned int n_conns;
    struct crowd strangers;      /* connections by peer */
    struct crowd known;          /* connections by identity; their bytes are bodies */
    struct list body_waits;      /* connections whose body waits for room, oldest first */
    unsigned int strangers_gone; /* since their memory was given back */
    int64_t turned_away_ms;      /* when the last line about that was logged */
    unsigned int turned_away;    /* since then */
    struct listener *listeners[MAX_LISTENERS];
    size_t n_listeners;
    struct loop_source *hook;
    struct loop_source *again_timer;
    int64_t date_s; /* second of `date` */
    char date[40];
    char scratch[SCRATCH_BYTES];
};

/* listen.c */
int listener_new(struct http_server *s, const char *address, struct listener **ret,
                 struct err *e) MUST_CHECK;
struct listener *listener_free(struct listener *l);
DEFINE_AUTO(struct listener, listener_free);

/* server.c */
void server_take(struct http_server *s, int fd);
const char *server_date(struct http_server *s);

/* conn.c: the connection's life */
struct conn *conn_new(struct http_server *s, int fd, struct peer *peer);
void conn_set_state(struct conn *c, enum conn_state state);
void conn_mark_dirty(struct conn *c);
void conn_look_again(struct conn *c);
void conn_update_events(struct conn *c);
void conn_flush(struct conn *c);
/* The end, now; tells whoever waits. */
void conn_end(struct conn *c);
static inline size_t conn_backlog(const struct conn *c)
{
    return c->out.n - c->out_sent;
}

/* receive.c: from bytes to exchanges */
void conn_read(struct conn *c);
void conn_advance(struct conn *c);
void conn_refuse(struct conn *c, int status, const char *why);
/* The body of the connection's request may come now. */
void conn_begin_body(struct conn *c);

/* room.c: whose connections there are, and who gives way */
/* May be given another number. */
bool room_for(struct http_server *s, int *fd, const struct peer *p) MUST_CHECK;
/* Descriptors have run out: true if a connection was closed to free one. */
bool room_free_one(struct http_server *s) MUST_CHECK;
void room_enter(struct conn *c);
/* It is closed, and what TLS kept for it is freed. */
void room_leave(struct conn *c);
/* Whether it may be sent away, after its state has changed. */
void room_update(struct conn *c);
/* It has credentials.  False: it was refused, since there are too many of that name. */
bool room_know(struct conn *c, const char *identity) MUST_CHECK;
/* Its new request has none. */
void room_forget(struct conn *c);
/* Count what a stranger makes us keep; may end connections, this one included. */
void room_charge(struct conn *c);
static inline bool room_is_stranger(const struct conn *c)
{
    return c->member.account && c->member.account->crowd == &c->server->strangers;
}

/* judge.c: credentials first.  False: the request was refused. */
bool judge_head(struct conn *c) MUST_CHECK;
/* How large the body of this request may be. */
size_t judge_max_body(const struct conn *c);

/* bodies.c: memory for the bodies of those who are known */
/* False: it waits; conn_advance goes on with it when there is room. */
bool bodies_reserve(struct conn *c, size_t bytes) MUST_CHECK;
/* The body is whole, and that long. */
void bodies_settle(struct conn *c, size_t bytes);
void bodies_release(struct conn *c);
static inline bool bodies_wait(const struct conn *c)
{
    return list_linked(&c->body_wait);
}

/* answer.c */
void answer_refusal(struct conn *c, int status, const char *why);
void exchange_free(struct http_exchange *x);
/* Free the connection's exchange at the end of the turn. */
void exchange_bury(struct conn *c);
