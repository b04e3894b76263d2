/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A child that does as it is told: stands in for slurmkeeper-agent-worker in the tests of the link.
 *
 * The "call" of a request is what happens: echo, refuse (with "kind"), slow (after "ms"), big ("n"
 * bytes), die, crash, hang, mute (closes its socket and stays), half (of a frame, then dies),
 * garble, text (a frame that is no JSON), twice (two answers), last, say (to standard error), env,
 * pid. With a --conf of "bad" it ends at once, as libslurm does with a file that it does not like.
 */
#include <signal.h>
#include <stdio.h>
#include <time.h>

#include "src/agent/frame.h"
#include "src/base/file.h"
#include "src/json/jsn.h"

extern char **environ;

static void send_body(struct str body)
{
    AUTO(buf_done) struct buf frame = {0};

    frame_add(&frame, body);
    if (file_write_all(STDIN_FILENO, buf_view(&frame)) < 0)
        _exit(3);
}

static void send_answer(struct arena *a, struct jsn *answer, bool ok)
{
    AUTO(buf_done) struct buf body = {0};

    jsn_set_bool(a, answer, "ok", ok);
    jsn_print(&body, answer);
    send_body(buf_view(&body));
}

static void act_refuse(struct arena *a, const struct jsn *request, struct jsn *answer)
{
    struct jsn *error = jsn_object(a);

    jsn_set_str(a, error, "kind", jsn_get_str(request, "kind"));
    jsn_set_int(a, error, "code", 2018);
    jsn_set_str(a, error, "text", "no such node");
    jsn_set(a, answer, "error", error);
    (void)fprintf(stderr, "actor: error: detail\n");
    send_answer(a, answer, false);
}

static void act_big(struct arena *a, const struct jsn *request, struct jsn *answer)
{
    size_t n = (size_t)jsn_get_int(request, "n", 0);
    char *text = arena_alloc(a, n + 1);

    memset(text, 'x', n);
    text[n] = 0;
    jsn_set_str(a, answer, "text", text);
    send_answer(a, answer, true);
}

static void act_env(struct arena *a, struct jsn *answer)
{
    struct jsn *list = jsn_array(a);

    for (char **e = environ; *e; e++)
        jsn_append(a, list, jsn_string(a, *e));
    jsn_set(a, answer, "env", list);
    send_answer(a, answer, true);
}

static void nap(int64_t ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};

    (void)nanosleep(&t, NULL);
}

/* Those that do not come back, or whose answers are none. */
static void act_badly(const char *call)
{
    if (streq(call, "die")) {
        (void)fprintf(stderr, "actor: fatal: Unable to process configuration file\n");
        _exit(1);
    }
    if (streq(call, "crash"))
        (void)raise(SIGKILL);
    if (streq(call, "mute"))
        (void)close(STDIN_FILENO);
    if (streq(call, "half"))
        _exit(write(STDIN_FILENO, "\0\0\0\20{\"ok\"", 9) != 9);
    if (streq(call, "garble") && write(STDIN_FILENO, "\377\377\377\377rubbish", 11) != 11)
        _exit(3);
    if (streq(call, "text"))
        send_body(STR("this is no JSON"));
    for (;;)
        nap(1000);
}

static void act(struct arena *a, const struct jsn *request)
{
    const char *call = jsn_get_str(request, "call");
    struct jsn *answer = jsn_object(a);

    jsn_set(a, answer, "value", jsn_key(request, "value") ?: jsn_null(a));
    jsn_set_int(a, answer, "pid", getpid());
    if (streq(call, "refuse"))
        act_refuse(a, request, answer);
    else if (streq(call, "big"))
        act_big(a, request, answer);
    else if (streq(call, "env"))
        act_env(a, answer);
    else if (streq(call, "echo") || streq(call, "slow") || streq(call, "twice") ||
             streq(call, "last")) {
        nap(jsn_get_int(request, "ms", 0));
        jsn_set_bool(a, answer, "last", streq(call, "last"));
        send_answer(a, answer, true);
        if (streq(call, "twice"))
            send_answer(a, answer, true);
        if (streq(call, "last"))
            _exit(0);
    } else
        act_badly(call);
}

int main(int argc, char **argv)
{
    AUTO(buf_done) struct buf in = {0};

    if (argc != 3 || streq(argv[2], "bad")) {
        (void)fprintf(stderr, "actor: error: Parse error in file bad line 1\n");
        return 1;
    }
    for (;;) {
        AUTO(arena_done) struct arena a = {0};
        struct jsn *request = NULL;
        struct str body;
        ssize_t n;

        while (frame_peek(&in, &body) == 0) {
            n = read(STDIN_FILENO, buf_room(&in, 4096), 4096);
            if (n <= 0)
                return 0;
            buf_grew(&in, (size_t)n);
        }
        if (jsn_parse(&a, body, NULL, &request, NULL) < 0)
            return 2;
        act(&a, request);
        frame_drop(&in);
    }
}
