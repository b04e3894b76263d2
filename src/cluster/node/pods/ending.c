/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The end of a run: status.json of its shim, and the message that the container left.
 *
 * Reasons are a kubelet's words: Completed, Error, OOMKilled; StartError where the runtime could
 * not start it; ContainerStatusUnknown where nobody knows.  The message is what the container wrote
 * to its termination log; failing that, where its policy says so, the end of its output.
 */
#include "src/cluster/node/pods/ending.h"

#include <stdio.h>

#include "src/base/alloc.h"
#include "src/base/clock.h"
#include "src/base/file.h"
#include "src/cluster/node/serve/log_lines.h"

#define MAX_MESSAGE 4096
#define MAX_TAIL_BYTES 2048
#define MAX_TAIL_LINES 80

static int read_status(struct arena *a, const char *dir, struct jsn **ret)
{
    AUTO(free) char *path = xasprintf("%s/status.json", dir);
    AUTO(free) char *text = NULL;
    size_t n;
    int r = file_read(path, 65536, &text, &n, NULL);

    return r < 0 ? r : jsn_parse(a, (struct str){text, n}, NULL, ret, NULL);
}

static int64_t time_of(const struct jsn *v, const char *key)
{
    const char *text = jsn_get_str(v, key);
    int64_t us = 0;

    return text && clock_parse_rfc3339(str_of(text), &us) == 0 ? us : 0;
}

bool ending_is_known(const char *dir)
{
    AUTO(arena_done) struct arena a = {0};
    struct jsn *v;

    return read_status(&a, dir, &v) == 0 && (jsn_key(v, "exitCode") || jsn_key(v, "error"));
}

static struct process_id process_of(const struct jsn *v)
{
    const char *boot = jsn_get_str(v, "boot");
    struct process_id id = {.pid = (pid_t)jsn_get_int(v, "pid", 0),
                            .start = (uint64_t)jsn_get_int(v, "pidStart", 0)};

    (void)snprintf(id.boot, sizeof(id.boot), "%s", boot ? boot : "");
    return id;
}

int ending_started(const char *dir, struct process_id *ret_process, int64_t *ret_started_us)
{
    AUTO(arena_done) struct arena a = {0};
    struct jsn *v;
    int r = read_status(&a, dir, &v);

    if (r < 0)
        return r;
    if (!jsn_key(v, "startedAt") || jsn_key(v, "error"))
        return -ENOENT;
    *ret_process = process_of(v);
    *ret_started_us = time_of(v, "startedAt");
    return 0;
}

/* The end of the output, without times and streams. */
static char *tail_of_log(const char *log)
{
    AUTO(buf_done) struct buf b = {0};
    struct log_query q = {.tail = MAX_TAIL_LINES};

    if (log_lines_read(log, &q, &b) < 0 || b.n == 0)
        return NULL;
    if (b.n > MAX_TAIL_BYTES)
        buf_eat(&b, b.n - MAX_TAIL_BYTES);
    return buf_take(&b);
}

static char *message_of(const char *dir, const char *log, const struct ctr_spec *s, int exit_code)
{
    AUTO(free) char *path = xasprintf("%s/termination-log", dir);
    AUTO(free) char *text = NULL;
    size_t n = 0;

    if (file_read(path, (size_t)1 << 20, &text, &n, NULL) == 0 && n > 0) {
        size_t cut = n > MAX_MESSAGE ? n - MAX_MESSAGE : 0;

        if (str_utf8_ok((struct str){text + cut, n - cut}))
            return str_dup((struct str){text + cut, n - cut});
    }
    return s->message_from_logs && exit_code != 0 ? tail_of_log(log) : NULL;
}

void ending_read(struct ctr_end *end, const char *dir, const char *log, const struct ctr_spec *s,
                 const char *id)
{
    AUTO(arena_done) struct arena a = {0};
    struct jsn *v = NULL;
    bool known = read_status(&a, dir, &v) == 0;
    const char *error = jsn_get_str(v, "error");

    ending_done(end);
    *end = (struct ctr_end){.set = true, .id = xstrdup(id)};
    end->started_us = time_of(v, "startedAt");
    end->finished_us = time_of(v, "finishedAt");
    if (!end->finished_us)
        end->finished_us = clock_wall_us();
    if (error) {
        end->exit_code = 128;
        end->reason = xstrdup("StartError");
        end->message = xstrdup(error);
        return;
    }
    if (!known || !jsn_key(v, "exitCode")) {
        end->exit_code = 137;
        end->reason = xstrdup("ContainerStatusUnknown");
        end->message = xstrdup("The container could not be located when the pod was terminated");
        return;
    }
    end->exit_code = (int)jsn_get_int(v, "exitCode", 0);
    end->signal = (int)jsn_get_int(v, "signal", 0);
    end->reason = xstrdup(jsn_get_bool(v, "oomKilled", false) && end->exit_code != 0 ? "OOMKilled"
                          : end->exit_code == 0                                      ? "Completed"
                                                                                     : "Error");
    end->message = message_of(dir, log, s, end->exit_code);
}

void ending_done(struct ctr_end *end)
{
    free((char *)(uintptr_t)end->id);
    free((char *)(uintptr_t)end->reason);
    free((char *)(uintptr_t)end->message);
    *end = (struct ctr_end){0};
}
