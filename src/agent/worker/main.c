/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurmkeeper-agent-worker: a process for libslurm to block, exit and crash in.
 *
 *   slurmkeeper-agent-worker --conf /etc/slurm/slurm.conf  <socket>
 *
 * Standard input is a socket.  It carries frames (frame.h) with one JSON object each: a request
 * {"call":"partitions","since":0}, then its answer {"ok":true,...}; one at a time.  It is started
 * by slurmkeeper-agent and by nobody else, and ends when the other side closes the socket.
 *
 * slurm_init comes with the first call that needs it: `parse` never does.  It ends the process when
 * it does not like slurm.conf; the agent then has what it wrote to standard error.
 */
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>

#include "src/agent/frame.h"
#include "src/agent/worker/call.h"
#include "src/agent/worker/conf_files.h"
#include "src/agent/worker/controllers.h"
#include "src/agent/worker/munge.h"
#include "src/agent/worker/names.h"
#include "src/agent/worker/watchdog.h"
#include "src/base/file.h"

static const struct {
    const char *name;
    worker_call_fn fn;
    bool local; /* needs no libslurm in this process */
} calls[] = {
    {"partitions", call_partitions, false},
    {"partition-create", call_partition_create, false},
    {"partition-update", call_partition_update, false},
    {"partition-delete", call_partition_delete, false},
    {"nodes", call_nodes, false},
    {"node-update", call_node_update, false},
    {"node-delete", call_node_delete, false},
    {"jobs", call_jobs, false},
    {"reservations", call_reservations, false},
    {"reservation-put", call_reservation_put, false},
    {"reservation-delete", call_reservation_delete, false},
    {"ping", call_ping, false},
    {"conf", call_conf, false},
    {"reconfigure", call_reconfigure, false},
    {"shutdown", call_shutdown, false},
    {"under-way", call_under_way, false},
    {"parse", call_parse, true},
};

/* libslurm, and who else is in this process, finds hosts by these. */
__attribute__((visibility("default"))) int getaddrinfo(const char *node, const char *service,
                                                       const struct addrinfo *hints,
                                                       struct addrinfo **ret)
{
    return names_find(node, service, hints, ret);
}

__attribute__((visibility("default"))) void freeaddrinfo(struct addrinfo *list)
{
    names_free(list);
}

/* What the watchdog has to know.  A file that only libslurm can read is no reason to fail. */
static void surroundings_read(const char *conf_path)
{
    AUTO(conffiles_done) struct conf_files files = {0};

    if (conffiles_read(conf_path, &files, NULL) == 0)
        munge_read(files.conf);
    controllers_read(files.conf);
}

/* A missing file would block slurm_init for a minute before it ends the process. */
static int worker_prepare(struct worker_call *c)
{
    if (c->worker->ready)
        return 0;
    if (access(c->worker->conf_path, R_OK) < 0) {
        char *text = arena_printf(c->arena, "'%s' cannot be read: %s", c->worker->conf_path,
                                  strerror(errno));

        return call_failed(c, "down", text);
    }
    slurm_init(c->worker->conf_path);
    surroundings_read(c->worker->conf_path);
    watchdog_start(STDIN_FILENO);
    c->worker->ready = true;
    return 0;
}

static int call_run(struct worker_call *c)
{
    const char *name = call_need(c, "call");

    if (!name)
        return -1;
    for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
        int r;

        if (!streq(name, calls[i].name))
            continue;
        if (calls[i].local)
            return calls[i].fn(c);
        r = worker_prepare(c);
        if (r < 0)
            return r;
        errno = 0;
        watchdog_begin();
        r = calls[i].fn(c);
        watchdog_end();
        return r;
    }
    return call_invalid(c, "there is no call '%s'", name);
}

static int answer_send(int fd, const struct jsn *answer)
{
    AUTO(buf_done) struct buf body = {0};
    AUTO(buf_done) struct buf frame = {0};

    buf_init(&body, FRAME_MAX_BYTES);
    jsn_print(&body, answer);
    if (body.overflow) {
        buf_clear(&body);
        body.overflow = false;
        buf_adds(&body, "{\"ok\":false,\"error\":{\"kind\":\"refused\",\"code\":7,"
                        "\"text\":\"the answer is too large\"}}");
    }
    frame_add(&frame, buf_view(&body));
    return file_write_all(fd, buf_view(&frame));
}

static int request_serve(struct worker *w, int fd, struct str body)
{
    AUTO(arena_done) struct arena arena = {0};
    struct jsn *request = NULL;
    struct worker_call c = {.worker = w, .arena = &arena, .answer = jsn_object(&arena)};
    struct err e = {0};
    int r;

    if (jsn_parse(&arena, body, NULL, &request, &e) < 0) {
        r = call_invalid(&c, "the request is no JSON: %s", e.text);
    } else {
        c.request = request;
        r = call_run(&c);
    }
    if (r == 0)
        jsn_set_bool(&arena, c.answer, "ok", true);
    return answer_send(fd, c.answer);
}

/* Until there is something to read. */
static void idle(int fd)
{
    struct pollfd wait = {.fd = fd, .events = POLLIN};

    while (poll(&wait, 1, names_idle_ms()) == 0)
        names_refresh();
}

/* Until the other side closes: 0; 1 if it cannot be understood or spoken to. */
static int serve(struct worker *w, int fd)
{
    AUTO(buf_done) struct buf in = {0};

    buf_init(&in, FRAME_MAX_BYTES + ((size_t)2 << 20));
    for (;;) {
        struct str body;
        int r = frame_peek(&in, &body);
        size_t want;
        ssize_t n;

        if (r < 0)
            return 1;
        if (r > 0) {
            if (request_serve(w, fd, body) < 0)
                return 1;
            frame_drop(&in);
            continue;
        }
        want = frame_want(&in);
        idle(fd);
        n = read(fd, buf_room(&in, want), want);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0;
        buf_grew(&in, (size_t)n);
    }
}

int main(int argc, char **argv)
{
    static const struct option options[] = {{"conf", required_argument, NULL, 'c'}, {0}};
    struct worker w = {.conf_path = "/etc/slurm/slurm.conf"};
    int option;

    (void)umask(077);
    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (option != 'c')
            return 2;
        w.conf_path = optarg;
    }
    (void)signal(SIGPIPE, SIG_IGN);
    /* no exit handlers: libslurm's would take their time, and there is nothing to save */
    _exit(serve(&w, STDIN_FILENO));
}
