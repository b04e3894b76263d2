/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * DIR/status.json: what the shim knows about its container, for whoever asks later.
 *
 * Written when the container has started or failed to, and again when it has ended; always whole,
 * by rename.  It is the only place where an exit status lives until the node has told the API.
 */
#include <stdio.h>
#include <sys/wait.h>

#include "src/base/clock.h"
#include "src/base/file.h"
#include "src/base/process.h"
#include "src/cluster/node/shim/shim.h"

/* A JSON string; control characters become blanks, bytes beyond ASCII stay as they are. */
static void add_string(struct buf *b, const char *s)
{
    buf_addc(b, '"');
    for (; *s; s++) {
        if (*s == '"' || *s == '\\')
            buf_addc(b, '\\');
        buf_addc(b, (char)((unsigned char)*s < 0x20 ? ' ' : *s));
    }
    buf_addc(b, '"');
}

static void add_time(struct buf *b, const char *key, int64_t wall_us)
{
    char time[CLOCK_RFC3339_LEN];

    clock_rfc3339_micro(wall_us, time);
    buf_printf(b, ",\"%s\":\"%s\"", key, time);
}

static void add_exit(struct buf *b, const struct shim_status *s)
{
    if (WIFSIGNALED(s->wait_status))
        buf_printf(b, ",\"exitCode\":%d,\"signal\":%d", 128 + WTERMSIG(s->wait_status),
                   WTERMSIG(s->wait_status));
    else
        buf_printf(b, ",\"exitCode\":%d", WEXITSTATUS(s->wait_status));
    add_time(b, "finishedAt", s->finished_us);
    if (s->oom)
        buf_adds(b, ",\"oomKilled\":true");
}

/* A number alone may mean another process later: with these it means this one. */
static void add_process(struct buf *b, const struct shim_status *s)
{
    struct process_id id = s->exited ? (struct process_id){0} : process_identify(s->pid);

    buf_printf(b, "{\"shim\":%d,\"pid\":%d", (int)getpid(), (int)s->pid);
    if (id.start)
        buf_printf(b, ",\"pidStart\":%llu,\"boot\":\"%s\"", (unsigned long long)id.start, id.boot);
}

void shim_status_write(const char *dir, const struct shim_status *s)
{
    AUTO(buf_done) struct buf b = {0};
    AUTO(buf_done) struct buf path = {0};
    struct err e = {0};

    add_process(&b, s);
    if (s->started_us)
        add_time(&b, "startedAt", s->started_us);
    if (s->exited)
        add_exit(&b, s);
    if (s->error[0]) {
        buf_adds(&b, ",\"error\":");
        add_string(&b, s->error);
    }
    buf_adds(&b, "}\n");
    buf_printf(&path, "%s/status.json", dir);
    if (file_write(buf_str(&path), buf_view(&b), 0640, &e) < 0)
        (void)fprintf(stderr, "slurmkeeper-shim: %s\n", e.text);
}
