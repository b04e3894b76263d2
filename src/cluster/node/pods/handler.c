/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What probes and hooks do: run a command in the container, ask for a page, open a connection,
 * wait.
 *
 * Requests go to the pod's address unless a host is named, and follow no redirects; an answer from
 * 200 to 399 is a success.  A command is a success if it exits with 0; one that takes too long is
 * killed in the container, too.
 */
#include "src/cluster/node/pods/handler.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "src/base/alloc.h"
#include "src/base/clock.h"
#include "src/cluster/node/pods/container.h"
#include "src/cluster/node/pods/handler_request.h"
#include "src/cluster/node/pods/worker.h"
#include "src/cluster/node/serve/exec_process.h"

#define MAX_OUTPUT 10240

struct handler_run {
    struct container *ctr;
    struct loop *loop;
    handler_done_fn done;
    void *arg;
    struct job *job;
    struct http_call *call;
    struct loop_source *timer;
    struct loop_source *socket;
    int fd;
    char *problem; /* for what could not even be begun */
};

static void release(struct handler_run *r)
{
    (void)loop_source_free(r->timer);
    (void)loop_source_free(r->socket);
    if (r->fd >= 0)
        (void)close(r->fd);
    free(r->problem);
    free(r);
}

static void finish(struct handler_run *r, bool ok, const char *output)
{
    handler_done_fn done = r->done;
    void *arg = r->arg;
    AUTO(free) char *copy = xstrdup(output);

    release(r);
    done(arg, ok, copy);
}

struct handler_run *handler_cancel(struct handler_run *r)
{
    if (!r)
        return NULL;
    (void)job_cancel(r->job);
    if (r->call)
        http_call_cancel(r->call);
    release(r);
    return NULL;
}

static void on_command(void *arg, int status, struct str output)
{
    struct handler_run *r = arg;
    AUTO(free) char *text = str_dup(str_trim(output));
    AUTO(free) char *why = NULL;

    r->job = NULL;
    if (status == -1) {
        finish(r, false, "command timed out");
        return;
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        finish(r, true, text);
        return;
    }
    why = text[0] ? NULL : xasprintf("command exited with %d", WEXITSTATUS(status));
    finish(r, false, why ? why : text);
}

static int start_command(struct handler_run *r, const struct jsn *json, int64_t timeout_ms,
                         struct err *e)
{
    struct node *n = r->ctr->worker->node;
    const char *const all[] = {n->shim, "filter",    n->runtime,        "--root",   n->runtime_root,
                               "exec",  "--process", EXEC_PROCESS_PATH, r->ctr->id, NULL};
    const char *const *argv = exec_process_is_filtered(r->ctr) ? all : all + 2;
    AUTO(close) int fd = -1;
    int err = exec_process_open(r->ctr, jsn_key(json, "command"), false, &fd, e);
    struct job_program p = {.argv = argv,
                            .timeout_ms = timeout_ms,
                            .max_output = MAX_OUTPUT,
                            .pass_fd = fd,
                            .kill_family = exec_process_kill,
                            .done = on_command,
                            .arg = r};

    if (err == 0)
        r->job = job_run(n->loop, &p);
    return err;
}

static const char *host_of(const struct handler_run *r, const struct jsn *json)
{
    return handler_host(json, sandbox_ip(r->ctr->worker->sandbox));
}

static void on_page(void *arg, const struct http_answer *a, const struct err *e)
{
    struct handler_run *r = arg;
    AUTO(free) char *why = NULL;

    r->call = NULL;
    if (e) {
        finish(r, false, e->text);
        return;
    }
    why = xasprintf("HTTP probe failed with statuscode: %d", a->status);
    finish(r, handler_status_ok(a->status), why);
}

static int start_request(struct handler_run *r, const struct jsn *json, int64_t timeout_ms,
                         struct err *e)
{
    struct node *n = r->ctr->worker->node;
    AUTO(arena_done) struct arena a = {0};
    struct http_client_tls tls = {.insecure = true};
    struct handler_request ask;
    int err = handler_request_of(&a, container_spec(r->ctr), json,
                                 sandbox_ip(r->ctr->worker->sandbox), &ask, e);

    if (err < 0)
        return err;
    struct http_call_options o = {
        .url = ask.url,
        .headers = ask.headers,
        .tls = &tls,
        .deadline_ms = timeout_ms,
        .connect_timeout_ms = (int)MIN(timeout_ms, 60000),
        .max_body_bytes = (size_t)1 << 20,
        .on_done = on_page,
        .arg = r,
    };
    r->call = http_client_call(n->http, &o);
    return 0;
}

static void on_connected(void *arg, int fd, uint32_t events)
{
    struct handler_run *r = arg;
    AUTO(free) char *why = NULL;
    socklen_t n = sizeof(int);
    int error = 0;

    (void)events;
    (void)getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &n);
    if (error)
        why = xasprintf("dial tcp: %s", strerror(error));
    finish(r, !error, why ? why : "");
}

static int start_connection(struct handler_run *r, const struct jsn *json, struct err *e)
{
    uint16_t port = handler_port(container_spec(r->ctr), jsn_key(json, "port"));
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port)};

    if (!port || inet_pton(AF_INET, host_of(r, json), &to.sin_addr) != 1)
        return err_bad(e, "%s port %u is no address to connect to", host_of(r, json), port);
    r->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (r->fd < 0)
        return err_errno(e, errno, "cannot make a socket");
    if (connect(r->fd, (struct sockaddr *)&to, sizeof(to)) < 0 && errno != EINPROGRESS)
        return err_errno(e, errno, "dial tcp");
    r->socket = loop_add_fd(r->loop, r->fd, EPOLLOUT, on_connected, r);
    return 0;
}

static void on_timer(void *arg)
{
    struct handler_run *r = arg;

    if (r->problem)
        finish(r, false, r->problem);
    else if (r->fd >= 0)
        finish(r, false, "dial tcp: i/o timeout");
    else
        finish(r, true, "");
}

struct handler_run *handler_start(struct container *c, const struct handler_spec *h,
                                  int64_t timeout_ms, handler_done_fn done, void *arg)
{
    struct handler_run *r = xcalloc(1, sizeof(*r));
    struct err e = {0};
    int err = 0;

    *r = (struct handler_run){
        .ctr = c, .loop = c->worker->node->loop, .done = done, .arg = arg, .fd = -1};
    r->timer = loop_add_timer(r->loop, on_timer, r);
    switch (h->kind) {
    case HANDLER_EXEC:
        err = start_command(r, h->json, timeout_ms, &e);
        break;
    case HANDLER_HTTP:
        err = start_request(r, h->json, timeout_ms, &e);
        break;
    case HANDLER_TCP:
        err = start_connection(r, h->json, &e);
        loop_timer_arm(r->timer, timeout_ms);
        break;
    case HANDLER_SLEEP:
        loop_timer_arm(r->timer,
                       MIN(timeout_ms, clock_s_to_ms(jsn_get_int(h->json, "seconds", 0))));
        break;
    case HANDLER_GRPC:
    case HANDLER_NONE:
        err = err_bad(&e, "gRPC is not spoken here: use exec, httpGet or tcpSocket");
        break;
    }
    if (err < 0) {
        r->problem = xstrdup(e.text);
        loop_timer_arm(r->timer, 0);
    }
    return r;
}
