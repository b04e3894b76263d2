/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Speak through a link to real children, line by line.
 *
 *   agent-call WORKER SLURM_CONF
 *
 * Each line of standard input is "LANE TIMEOUT_MS {request}" (LANE: read, write, parse) or
 * "restart"; the call is made at once.  Each answer is one line of standard output:
 * {"id":N,"r":-110,"error":"...","ms":1.23,"answer":{...}} with N counting the calls from 0.  So a
 * test can have several calls on their way.  Ends with standard input, when all have been answered.
 */
#include <stdio.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "src/agent/link.h"
#include "src/base/alloc.h"
#include "src/base/clock.h"
#include "src/base/file.h"

struct driver {
    struct loop *loop;
    struct link *link;
    struct loop_source *input;
    struct buf in;
    int64_t n;
    int64_t open;
    bool ended;
};

struct asked {
    struct driver *driver;
    int64_t id;
    int64_t at_ns;
};

static void driver_end(struct driver *d)
{
    if (d->ended && d->open == 0)
        loop_stop(d->loop, 0);
}

static void answered(void *arg, int r, const struct jsn *answer, const struct err *e)
{
    struct asked *asked = arg;
    AUTO(arena_done) struct arena a = {0};
    AUTO(buf_done) struct buf line = {0};
    struct jsn *out = jsn_object(&a);

    jsn_set_int(&a, out, "id", asked->id);
    jsn_set_int(&a, out, "r", r);
    jsn_set(&a, out, "ms", jsn_real(&a, (double)(clock_mono_ns() - asked->at_ns) / 1e6));
    if (r < 0)
        jsn_set_str(&a, out, "error", e->text);
    if (answer)
        jsn_set(&a, out, "answer", jsn_clone(&a, answer));
    jsn_print(&line, out);
    buf_addc(&line, '\n');
    if (file_write_all(STDOUT_FILENO, buf_view(&line)) < 0)
        loop_stop(asked->driver->loop, 1);
    asked->driver->open--;
    driver_end(asked->driver);
    free(asked);
}

static void call_make(struct driver *d, struct str line)
{
    static const char *const lanes[] = {"read", "write", "parse"};
    AUTO(arena_done) struct arena a = {0};
    struct asked *asked = xcalloc(1, sizeof(*asked));
    struct jsn *request = NULL;
    struct str lane;
    struct str timeout;
    uint64_t ms = 0;
    unsigned i = 0;

    if (!str_split(&line, ' ', &lane) || !str_split(&line, ' ', &timeout) ||
        str_to_u64(timeout, &ms) < 0 || jsn_parse(&a, line, NULL, &request, NULL) < 0)
        abort();
    while (i < LANE_N && !str_eqz(lane, lanes[i]))
        i++;
    *asked = (struct asked){d, d->n++, clock_mono_ns()};
    d->open++;
    if (i == LANE_N || link_call(d->link, i, request, ms, answered, asked) < 0)
        abort();
}

static void input_ready(void *arg, int fd, uint32_t events)
{
    struct driver *d = arg;
    char *room = buf_room(&d->in, 1 << 20);
    ssize_t n = read(fd, room, 1 << 20);
    size_t end;

    (void)events;
    if (n <= 0) {
        d->ended = true;
        d->input = loop_source_free(d->input);
        driver_end(d);
        return;
    }
    buf_grew(&d->in, (size_t)n);
    while ((end = str_find(buf_view(&d->in), '\n')) < d->in.n) {
        struct str line = {d->in.p, end};

        if (str_eqz(line, "restart"))
            link_restart(d->link);
        else
            call_make(d, line);
        buf_eat(&d->in, end + 1);
    }
}

int main(int argc, char **argv)
{
    AUTO(loop_free) struct loop *loop = NULL;
    struct driver d = {0};
    struct err e = {0};
    int code;

    if (argc != 3 || loop_new(&loop, &e) < 0)
        return 2;
    d.loop = loop;
    d.link = link_new(loop, &(struct link_options){.program = argv[1], .slurm_conf = argv[2]});
    d.input = loop_add_fd(loop, STDIN_FILENO, EPOLLIN, input_ready, &d);
    code = loop_run(loop);
    link_free(d.link);
    loop_source_free(d.input);
    buf_done(&d.in);
    return code;
}
