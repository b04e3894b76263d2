/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kubectl logs.
 *
 * What is in the log now is sent at once; with follow the stream goes on as the log grows, through
 * rotations, until the run of the container that it belongs to has ended and everything is sent.
 * A client that does not read is waited for: nothing is read ahead of it.
 */
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/stat.h>

#include "src/base/alloc.h"
#include "src/base/clock.h"
#include "src/cluster/node/pods/worker.h"
#include "src/cluster/node/serve/log_lines.h"
#include "src/cluster/node/serve/serve.h"

#define LOOK_MS 250
#define MAX_BEHIND ((size_t)1 << 20)

struct follower {
    struct node *node;
    struct http_exchange *exchange;
    char *uid;
    char *container;
    char *path;
    int attempt;
    struct log_query query;
    bool mid_line;
    int fd;
    struct buf in;
    int watch_fd;
    struct loop_source *watch;
    struct loop_source *timer;
};

static void follower_free(struct follower *f)
{
    (void)loop_source_free(f->watch);
    (void)loop_source_free(f->timer);
    if (f->watch_fd >= 0)
        (void)close(f->watch_fd);
    if (f->fd >= 0)
        (void)close(f->fd);
    buf_done(&f->in);
    free(f->uid);
    free(f->container);
    free(f->path);
    free(f);
}

static void on_gone(void *arg)
{
    follower_free(arg);
}

/* Whole lines that have arrived, to the client. */
static void pass_lines(struct follower *f)
{
    AUTO(buf_done) struct buf out = {0};
    struct str rest = buf_view(&f->in);
    size_t used = 0;

    for (;;) {
        struct str left = {rest.p + used, rest.n - used};
        size_t n = str_find(left, '\n');
        struct log_line l;

        if (n == left.n)
            break;
        if (log_line_parse((struct str){left.p, n}, &l))
            log_line_print(&f->query, &l, &f->mid_line, &out);
        used += n + 1;
    }
    buf_eat(&f->in, used);
    if (out.n)
        http_stream_write(f->exchange, buf_view(&out));
}

/* The file at the path is another one: the old one was rotated away and is read to its end. */
static bool was_rotated(const struct follower *f)
{
    struct stat open_file, named;

    return fstat(f->fd, &open_file) == 0 && stat(f->path, &named) == 0 &&
           open_file.st_ino != named.st_ino;
}

/* Read what there is; true at the end of the log. */
static bool read_more(struct follower *f)
{
    char data[16384];

    if (f->fd < 0)
        f->fd = open(f->path, O_RDONLY | O_CLOEXEC);
    while (f->fd >= 0 && http_stream_backlog(f->exchange) < MAX_BEHIND) {
        ssize_t n = read(f->fd, data, sizeof(data));

        if (n > 0) {
            buf_add(&f->in, data, (size_t)n);
            pass_lines(f);
        } else if (was_rotated(f)) {
            (void)close(f->fd);
            f->fd = open(f->path, O_RDONLY | O_CLOEXEC);
        } else {
            return true;
        }
    }
    return f->fd < 0;
}

/* Does the run whose log this is go on? */
static bool goes_on(const struct follower *f)
{
    struct worker *w = map_get(&f->node->workers, str_of(f->uid));
    int i = w ? pod_spec_find(w->spec, f->container) : -1;

    return i >= 0 && w->ctrs[i].attempt == f->attempt && w->ctrs[i].phase != CTR_DOWN &&
           w->ctrs[i].phase != CTR_IDLE;
}

static void look(struct follower *f)
{
    bool alive = goes_on(f); /* asked first: what is written before the end is read */

    if (read_more(f) && !alive) {
        http_stream_end(f->exchange);
        follower_free(f);
        return;
    }
    loop_timer_arm(f->timer, LOOK_MS);
}

static void on_timer(void *arg)
{
    look(arg);
}

static void on_change(void *arg, int fd, uint32_t events)
{
    char events_read[4096];

    (void)events;
    while (read(fd, events_read, sizeof(events_read)) > 0)
        ;
    look(arg);
}

static void watch_directory(struct follower *f)
{
    AUTO(free)
    char *dir = str_dup((struct str){f->path, (size_t)(strrchr(f->path, '/') - f->path)});

    f->watch_fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (f->watch_fd < 0)
        return; /* the timer does */
    (void)inotify_add_watch(f->watch_fd, dir, IN_MODIFY | IN_CREATE | IN_MOVED_TO);
    f->watch = loop_add_fd(f->node->loop, f->watch_fd, EPOLLIN, on_change, f);
}

static void follow(struct container *c, struct http_exchange *x, const struct log_query *q,
                   const char *path, int attempt, off_t from)
{
    struct follower *f = xcalloc(1, sizeof(*f));

    f->node = c->worker->node;
    f->exchange = x;
    f->uid = xstrdup(c->worker->uid);
    f->container = xstrdup(container_spec(c)->name);
    f->path = xstrdup(path);
    f->attempt = attempt;
    f->query = (struct log_query){.timestamps = q->timestamps};
    f->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (f->fd >= 0)
        (void)lseek(f->fd, from, SEEK_SET);
    f->watch_fd = -1;
    f->timer = loop_add_timer(f->node->loop, on_timer, f);
    http_exchange_on_close(x, on_gone, f);
    watch_directory(f);
    loop_timer_arm(f->timer, 0);
}

static int read_query(const struct url_query *q, struct log_query *ret, struct err *e)
{
    const char *since = url_query_get(q, "sinceTime");
    int64_t tail = -1;
    int64_t seconds = 0;
    int r = url_query_i64(q, "tailLines", -1, &tail, e);

    if (r == 0)
        r = url_query_i64(q, "sinceSeconds", 0, &seconds, e);
    if (r == 0)
        r = url_query_i64(q, "limitBytes", 0, &ret->limit_bytes, e);
    if (r < 0)
        return r;
    ret->tail = MAX(tail, 0);
    ret->none_at_all = tail == 0;
    ret->timestamps = url_query_bool(q, "timestamps");
    if (seconds > 0)
        ret->since_us = clock_wall_us() - clock_s_to_us(seconds);
    if (since && since[0] && clock_parse_rfc3339(str_of(since), &ret->since_us) < 0)
        return err_bad(e, "sinceTime: '%s' is not a time", since);
    return 0;
}

/* The run to show: the present one, else the last; with `previous` the one before. */
static int attempt_of(const struct container *c, bool previous)
{
    bool between = c->phase == CTR_DOWN && c->waiting_reason;

    if (!previous || between)
        return c->attempt;
    return c->attempt - 1;
}

void serve_logs(struct container *c, struct http_exchange *x, const struct url_query *q)
{
    AUTO(buf_done) struct buf b = {0};
    bool previous = url_query_bool(q, "previous");
    int attempt = attempt_of(c, previous);
    AUTO(free) char *path = container_log_path(c, attempt);
    struct log_query query = {0};
    struct stat st = {0};
    struct err e = {0};

    if (read_query(q, &query, &e) < 0) {
        serve_refuse(x, 400, "BadRequest", "%s", e.text);
        return;
    }
    if (attempt < 0 && previous) {
        serve_refuse(x, 400, "BadRequest",
                     "previous terminated container \"%s\" in pod \"%s\" not found",
                     container_spec(c)->name, c->worker->spec->name);
        return;
    }
    if (attempt < 0) {
        serve_refuse(x, 400, "BadRequest", "container \"%s\" in pod \"%s\" is waiting to start: %s",
                     container_spec(c)->name, c->worker->spec->name,
                     c->waiting_reason ? c->waiting_reason : "ContainerCreating");
        return;
    }
    (void)stat(path, &st);
    if (log_lines_read(path, &query, &b) < 0) {
        serve_refuse(x, 500, "InternalError",
                     "the log of container %s is too large to be shown "
                     "at once: ask for less with --tail",
                     container_spec(c)->name);
        return;
    }
    http_stream_begin(x, 200, "text/plain", NULL);
    http_stream_write(x, buf_view(&b));
    if (url_query_bool(q, "follow") && !query.limit_bytes)
        follow(c, x, &query, path, attempt, st.st_size);
    else
        http_stream_end(x);
}
