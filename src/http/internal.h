/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of the server share; nobody else includes it. */
#pragma once

#include "src/base/list.h"
#include "src/http/chunk.h"
#include "src/http/head.h"
#include "src/http/server.h"
#include "src/http/transport.h"

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
    char *peer;
    char *tls_cn;
    char **tls_orgs;

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
    struct loop_source *source;
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
    unsigned int corks;
    struct listener *listeners[MAX_LISTENERS];
    size_t n_listeners;
    struct loop_source *hook;
    struct loop_source *again_timer;
    struct loop_source *accept_timer;
    int64_t date_s; /* second of `date` */
    char date[40];
    char scratch[SCRATCH_BYTES];
};

/* listen.c */
int listener_new(struct http_server *s, const char *address, struct listener **ret,
                 struct err *e) MUST_CHECK;
struct listener *listener_free(struct listener *l);
DEFINE_AUTO(struct listener, listener_free);
void listener_pause(struct listener *l, bool on);

/* server.c */
void server_accept(struct http_server *s, int listener_fd);
const char *server_date(struct http_server *s);

/* conn.c: the connection's life */
struct conn *conn_new(struct http_server *s, int fd, char *peer);
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

/* answer.c */
void answer_refusal(struct conn *c, int status, const char *why);
void exchange_free(struct http_exchange *x);
/* Free the connection's exchange at the end of the turn. */
void exchange_bury(struct conn *c);
