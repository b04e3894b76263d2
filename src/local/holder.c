/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who serves a state directory.
 *
 * Whoever does holds a lock for as long as it lives.  The lock is in a directory that only its
 * owner can enter (STATE/serve, 0700): no other user of the machine can take it, and nobody can put
 * a link in its place.  It is looked at without being taken, so that a look never keeps anybody
 * from serving.
 *
 * Which process that is stands beside it in serve.json, which everybody may read: number, start
 * time, boot.  These name one process for ever, so a number that another process has by now is not
 * taken for ours, and a signal goes through a pidfd to that very process or to none.  Users who
 * cannot see the lock believe the note as far as its process runs.
 */
#include "src/local/layout.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>

#include "src/base/alloc.h"
#include "src/base/clock.h"
#include "src/base/file.h"
#include "src/base/process.h"
#include "src/json/jsn.h"

#define NOTE_MAX_BYTES 4096
#define COMMAND_MAX_BYTES 80

enum lock_state { LOCK_FREE, LOCK_HELD, LOCK_UNSEEN };

struct holder {
    struct process_id process;
    int64_t since_us;
};

static char *lock_path(const struct layout *l)
{
    return xasprintf("%s/lock", l->held);
}

static char *note_path(const struct layout *l)
{
    return xasprintf("%s.json", l->held);
}

static enum lock_state look_at_lock(const struct layout *l)
{
    AUTO(free) char *path = lock_path(l);
    AUTO(close) int fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

    if (fd < 0)
        return errno == ENOENT ? LOCK_FREE : LOCK_UNSEEN;
    if (fcntl(fd, F_OFD_GETLK, &lock) < 0)
        return LOCK_UNSEEN;
    return lock.l_type == F_UNLCK ? LOCK_FREE : LOCK_HELD;
}

static int read_note(const struct layout *l, struct holder *ret)
{
    AUTO(free) char *path = note_path(l);
    AUTO(free) char *text = NULL;
    AUTO(arena_done) struct arena a = {0};
    const char *boot;
    struct jsn *v;
    size_t n;
    int r = file_read(path, NOTE_MAX_BYTES, &text, &n, NULL);

    if (r == 0)
        r = jsn_parse(&a, (struct str){text, n}, NULL, &v, NULL);
    if (r < 0)
        return r;
    *ret = (struct holder){.process = {.pid = (pid_t)jsn_get_int(v, "pid", 0),
                                       .start = (uint64_t)jsn_get_int(v, "pidStart", 0)},
                           .since_us = jsn_get_int(v, "sinceUs", 0)};
    boot = jsn_get_str(v, "boot");
    (void)snprintf(ret->process.boot, sizeof(ret->process.boot), "%s", boot ? boot : "");
    return 0;
}

static int write_note(const struct layout *l, struct err *e)
{
    struct process_id me = process_identify(getpid());
    AUTO(free) char *path = note_path(l);
    AUTO(arena_done) struct arena a = {0};
    AUTO(buf_done) struct buf b = {0};
    struct jsn *v = jsn_object(&a);

    jsn_set_int(&a, v, "pid", me.pid);
    jsn_set_int(&a, v, "pidStart", (int64_t)me.start);
    jsn_set_str(&a, v, "boot", me.boot);
    jsn_set_int(&a, v, "sinceUs", clock_wall_us());
    jsn_print(&b, v);
    buf_addc(&b, '\n');
    return file_write(path, buf_view(&b), 0644, e);
}

/* The process that serves it, if it can be told and runs. */
static bool find_holder(const struct layout *l, struct holder *ret)
{
    return read_note(l, ret) == 0 && process_runs(&ret->process);
}

static int refuse(const struct layout *l, struct err *e)
{
    AUTO(buf_done) struct buf command = {0};
    AUTO(free) char *path = lock_path(l);
    char since[CLOCK_RFC3339_LEN];
    struct holder h;

    if (!find_holder(l, &h))
        return err_set(e, -EBUSY, ERR_PERMANENT,
                       "a process that left no note of itself holds '%s': find it with 'fuser %s'",
                       path, path);
    clock_rfc3339(h.since_us, since);
    process_command(h.process.pid, COMMAND_MAX_BYTES, &command);
    return err_set(e, -EBUSY, ERR_PERMANENT,
                   "process %d (%s) serves '%s' already, since %s; 'slurmkeeper down' ends it",
                   (int)h.process.pid, buf_str(&command), l->state, since);
}

int layout_lock(const struct layout *l, int *ret_fd, struct err *e)
{
    AUTO(free) char *path = lock_path(l);
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    AUTO(close) int fd = -1;
    int r = file_private_dir(l->held, e);

    if (r == 0)
        r = file_private_open(path, &fd, e);
    if (r == 0 && fcntl(fd, F_OFD_SETLK, &lock) < 0)
        r = errno == EAGAIN || errno == EACCES ? refuse(l, e)
                                               : err_errno(e, errno, "lock '%s'", path);
    if (r == 0)
        r = write_note(l, e);
    if (r == 0)
        *ret_fd = TAKE_FD(fd);
    return r;
}

pid_t layout_holder(const struct layout *l)
{
    enum lock_state lock = look_at_lock(l);
    struct holder h;

    if (lock == LOCK_FREE)
        return 0;
    if (find_holder(l, &h))
        return h.process.pid;
    return lock == LOCK_HELD ? -1 : 0;
}

/* Until it has ended, or time is out. */
static int wait_for_end(const struct process_id *p, int64_t wait_ms, struct err *e)
{
    AUTO(close) int fd = process_watch(p->pid, p->start);
    struct pollfd at = {.fd = fd, .events = POLLIN};
    int64_t until = clock_mono_ms() + wait_ms;

    while (fd >= 0 && process_runs(p)) {
        int64_t left = until - clock_mono_ms();

        if (left <= 0)
            return err_set(e, -ETIMEDOUT, ERR_RETRY, "process %d does not end", (int)p->pid);
        if (poll(&at, 1, (int)left) > 0)
            return 0;
    }
    return 0;
}

int layout_end_holder(const struct layout *l, int64_t wait_ms, struct err *e)
{
    pid_t pid = layout_holder(l);
    struct holder h;
    int r;

    if (pid == 0)
        return 0;
    if (pid < 0 || !find_holder(l, &h))
        return refuse(l, e);
    r = process_signal(&h.process, SIGTERM);
    if (r == -ESRCH)
        return 0;
    if (r < 0)
        return err_errno(e, -r, "cannot end process %d, which serves '%s'", (int)pid, l->state);
    return wait_for_end(&h.process, wait_ms, e);
}
