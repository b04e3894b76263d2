/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Watching the mount.
 *
 * The kubelet replaces a volume by renaming a symbolic link ("..data"), which inotify tells as a
 * name that came.  On file systems where changes are made elsewhere it tells nothing: so the files
 * are read and hashed every 5 s in any case.  Several changes in a row are waited for, so that a
 * half-changed directory is not taken for a whole one.
 */
#include "src/agent/watch.h"

#include <sys/epoll.h>
#include <sys/inotify.h>

#include "src/base/alloc.h"
#include "src/base/log.h"

#define LOOK_MS 5000
#define SETTLE_MS 50

struct watch {
    struct loop *loop;
    char *dir;
    int fd; /* of inotify; -1: it is not to be had */
    int wd; /* -1: the directory is not there */
    char hash[SHA256_HEX_LEN + 1];
    bool complained;
    struct loop_source *events;
    struct loop_source *timer;
    watch_fn fn;
    void *arg;
};

static void watch_dir(struct watch *w)
{
    uint32_t what = IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_CLOSE_WRITE |
                    IN_DELETE_SELF | IN_MOVE_SELF;

    if (w->fd >= 0 && w->wd < 0)
        w->wd = inotify_add_watch(w->fd, w->dir, what | IN_ONLYDIR);
}

static void look(void *arg)
{
    struct watch *w = arg;
    AUTO(fileset_done) struct fileset files = {0};
    char hash[SHA256_HEX_LEN + 1];
    struct err e = {0};

    watch_dir(w);
    loop_timer_arm(w->timer, LOOK_MS);
    if (fileset_read(w->dir, &files, &e) < 0) {
        if (!w->complained)
            log_warn("%s; looking again every %d s", e.text, LOOK_MS / 1000);
        w->complained = true;
        return;
    }
    w->complained = false;
    fileset_hash(&files, hash);
    if (streq(hash, w->hash) || files.n == 0)
        return;
    memcpy(w->hash, hash, sizeof(hash));
    w->fn(w->arg, &files);
}

static void on_event(void *arg, int fd, uint32_t events)
{
    struct watch *w = arg;
    char buffer[4096] __attribute__((aligned(__alignof__(struct inotify_event))));
    ssize_t n;

    (void)events;
    while ((n = read(fd, buffer, sizeof(buffer))) > 0) {
        for (char *at = buffer; at < buffer + n;) {
            const struct inotify_event *one = (const struct inotify_event *)(const void *)at;

            if (one->mask & (IN_IGNORED | IN_DELETE_SELF | IN_MOVE_SELF))
                w->wd = -1;
            at += sizeof(*one) + one->len;
        }
    }
    loop_timer_arm(w->timer, SETTLE_MS);
}

struct watch *watch_new(struct loop *l, const char *dir, watch_fn fn, void *arg)
{
    struct watch *w = xcalloc(1, sizeof(*w));

    *w = (struct watch){.loop = l, .dir = xstrdup(dir), .wd = -1, .fn = fn, .arg = arg};
    w->fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (w->fd >= 0)
        w->events = loop_add_fd(l, w->fd, EPOLLIN, on_event, w);
    w->timer = loop_add_timer(l, look, w);
    loop_timer_arm(w->timer, 0);
    return w;
}

struct watch *watch_free(struct watch *w)
{
    if (!w)
        return NULL;
    (void)loop_source_free(w->events);
    (void)loop_source_free(w->timer);
    if (w->fd >= 0)
        (void)close(w->fd);
    free(w->dir);
    free(w);
    return NULL;
}

void watch_again(struct watch *w, int64_t delay_ms)
{
    w->hash[0] = '\0';
    loop_timer_arm(w->timer, delay_ms);
}
