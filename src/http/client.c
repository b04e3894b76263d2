/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The client: curl's multi interface on the loop.
 *
 * curl says which descriptors and which time it waits for; the loop waits, and tells curl.  While
 * curl runs, its callbacks only note what has arrived.  Owners are told afterwards, from the ready
 * list, so that a callback may start and cancel calls freely.
 *
 * Connections are kept, and used again by later calls of the same client.
 */
#include "src/http/client.h"

#include <pthread.h>
#include <sys/epoll.h>

#include "src/base/alloc.h"
#include "src/http/call.h"

#define KEPT_CONNECTIONS 64L

static void global_init(void)
{
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        abort();
}

static void bury(void *arg)
{
    http_call_free(arg);
}

/* Take the call off everything; its memory lasts until the end of the turn. */
static void retire(struct http_call *call)
{
    struct http_client *c = call->client;

    assert(!call->dead);
    call->dead = true;
    list_remove(&call->link);
    list_remove(&call->ready);
    (void)curl_multi_remove_handle(c->multi, call->easy);
    loop_defer_free(c->loop, bury, call);
}

void http_call_cancel(struct http_call *call)
{
    if (!call->dead)
        retire(call);
}

static long status_of(const struct http_call *call)
{
    long status = 0;

    (void)curl_easy_getinfo(call->easy, CURLINFO_RESPONSE_CODE, &status);
    return status;
}

/* curl takes any number for a status; what has no three digits is none, and follows no rules. */
static bool is_answer(const struct http_call *call)
{
    long status = status_of(call);

    return status >= 100 && status <= 999;
}

static void tell_chunk(struct http_call *call)
{
    AUTO(buf_done) struct buf piece = call->body;

    call->body = (struct buf){.max = piece.max};
    if (is_answer(call))
        call->on_chunk(call->arg, (int)status_of(call), buf_view(&piece));
}

static void tell_end(struct http_call *call)
{
    struct http_answer a = {(int)status_of(call), buf_view(&call->body), call};
    struct err e = {0};

    retire(call);
    if (call->result != CURLE_OK)
        (void)http_call_error(call, &e);
    else if (!is_answer(call))
        (void)err_set(&e, -EPROTO, ERR_RETRY, "%s: the server does not speak HTTP", call->what);
    call->on_done(call->arg, e.num ? NULL : &a, e.num ? &e : NULL);
}

static void collect_ends(struct http_client *c)
{
    CURLMsg *m;
    int left;

    while ((m = curl_multi_info_read(c->multi, &left))) {
        struct http_call *call = NULL;

        if (m->msg != CURLMSG_DONE)
            continue;
        (void)curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, (char **)&call);
        call->ended = true;
        call->result = m->data.result;
        if (!list_linked(&call->ready))
            list_append(&c->ready, &call->ready);
    }
}

/* Tell owners what curl has noted.  A callback may start and cancel any call. */
static void tell_owners(struct http_client *c)
{
    collect_ends(c);
    while (!list_empty(&c->ready)) {
        struct http_call *call = LIST_ENTRY(c->ready.next, struct http_call, ready);

        list_remove(&call->ready);
        if (call->streamed && call->body.n > 0)
            tell_chunk(call);
        if (!call->dead && call->ended)
            tell_end(call);
    }
}

static void act(struct http_client *c, curl_socket_t fd, int flags)
{
    int running;

    (void)curl_multi_socket_action(c->multi, fd, flags, &running);
    tell_owners(c);
}

static void time_reached(void *arg)
{
    act(arg, CURL_SOCKET_TIMEOUT, 0);
}

static void fd_ready(void *arg, int fd, uint32_t events)
{
    int flags = 0;

    if (events & EPOLLIN)
        flags |= CURL_CSELECT_IN;
    if (events & EPOLLOUT)
        flags |= CURL_CSELECT_OUT;
    if (events & (EPOLLERR | EPOLLHUP))
        flags |= CURL_CSELECT_ERR;
    act(arg, fd, flags);
}

static int want_time(CURLM *multi, long timeout_ms, void *arg)
{
    struct http_client *c = arg;

    (void)multi;
    if (timeout_ms < 0)
        loop_timer_disarm(c->timer);
    else
        loop_timer_arm(c->timer, timeout_ms);
    return 0;
}

static int want_fd(CURL *easy, curl_socket_t fd, int what, void *arg, void *socket_arg)
{
    struct loop_source *source = socket_arg;
    struct http_client *c = arg;
    uint32_t events = 0;

    (void)easy;
    if (what == CURL_POLL_REMOVE) {
        (void)loop_source_free(source);
        (void)curl_multi_assign(c->multi, fd, NULL);
        return 0;
    }
    if (what & CURL_POLL_IN)
        events |= EPOLLIN;
    if (what & CURL_POLL_OUT)
        events |= EPOLLOUT;
    if (source) {
        loop_fd_set_events(source, events);
    } else {
        source = loop_add_fd(c->loop, fd, events, fd_ready, c);
        (void)curl_multi_assign(c->multi, fd, source);
    }
    return 0;
}

int http_client_new(struct loop *l, struct http_client **ret_client, struct err *e)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct http_client *c;
    CURLM *multi;

    (void)pthread_once(&once, global_init);
    multi = curl_multi_init();
    if (!multi)
        return err_set(e, -ENOMEM, ERR_RETRY, "cannot make a curl handle");
    c = xcalloc(1, sizeof(*c));
    c->loop = l;
    c->multi = multi;
    c->timer = loop_add_timer(l, time_reached, c);
    list_init(&c->calls);
    list_init(&c->ready);
    (void)curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, want_fd);
    (void)curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, c);
    (void)curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, want_time);
    (void)curl_multi_setopt(multi, CURLMOPT_TIMERDATA, c);
    (void)curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, KEPT_CONNECTIONS);
    *ret_client = c;
    return 0;
}

struct http_client *http_client_free(struct http_client *c)
{
    if (!c)
        return NULL;
    while (!list_empty(&c->calls)) {
        struct http_call *call = LIST_ENTRY(c->calls.next, struct http_call, link);

        (void)curl_multi_remove_handle(c->multi, call->easy);
        list_remove(&call->link);
        list_remove(&call->ready);
        http_call_free(call);
    }
    (void)curl_multi_cleanup(c->multi);
    (void)loop_source_free(c->timer);
    free(c);
    return NULL;
}

struct http_call *http_client_call(struct http_client *c, const struct http_call_options *o)
{
    struct http_call *call = http_call_new(c, o);

    list_append(&c->calls, &call->link);
    if (curl_multi_add_handle(c->multi, call->easy) != CURLM_OK)
        abort(); /* a handle that is new fails for want of memory only */
    return call;
}

const char *http_answer_header(const struct http_answer *a, const char *name)
{
    struct curl_header *h;

    if (curl_easy_header(a->call->easy, name, 0, CURLH_HEADER, -1, &h) != CURLHE_OK)
        return NULL;
    return h->value;
}
