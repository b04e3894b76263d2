/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Has containers follow the machine's /etc.
 *
 * A user who is added to the machine wants to run jobs at once: the directory itself is watched by
 * inotify.  What changes further below is found by looking every ten seconds, which costs a stat of
 * each file.  Many changes of one moment, as a package makes them, are looked at together.
 */
#include "src/cluster/node/runtime/etc_follow.h"

#include <sys/epoll.h>
#include <sys/inotify.h>

#include "src/base/alloc.h"
#include "src/base/file.h"
#include "src/base/log.h"

#define LOOK_MS 10000
#define SETTLE_MS 50

struct etc_follow {
    struct rootfs *rootfs;
    int fd; /* of inotify; -1: it is not to be had */
    bool complained;
    struct loop_source *events;
    struct loop_source *timer;
};

static void look(void *arg)
{
    struct etc_follow *f = arg;
    struct err e = {0};

    loop_timer_arm(f->timer, LOOK_MS);
    if (rootfs_refresh(f->rootfs, &e) == 0) {
        f->complained = false;
        return;
    }
    if (!f->complained)
        log_warn("pods do not follow the machine's /etc: %s; looking again every %d s", e.text,
                 LOOK_MS / 1000);
    f->complained = true;
}

static void on_event(void *arg, int fd, uint32_t events)
{
    struct etc_follow *f = arg;
    char buffer[4096];

    (void)events;
    while (read(fd, buffer, sizeof(buffer)) > 0)
        ;
    loop_timer_arm(f->timer, SETTLE_MS);
}

struct etc_follow *etc_follow_new(struct loop *l, struct rootfs *r)
{
    struct etc_follow *f = xcalloc(1, sizeof(*f));
    uint32_t what =
        IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_CLOSE_WRITE | IN_ATTRIB;

    f->rootfs = r;
    f->fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (f->fd >= 0 && inotify_add_watch(f->fd, "/etc", what | IN_ONLYDIR) >= 0)
        f->events = loop_add_fd(l, f->fd, EPOLLIN, on_event, f);
    f->timer = loop_add_timer(l, look, f);
    loop_timer_arm(f->timer, LOOK_MS);
    return f;
}

struct etc_follow *etc_follow_free(struct etc_follow *f)
{
    if (!f)
        return NULL;
    (void)loop_source_free(f->events);
    (void)loop_source_free(f->timer);
    if (f->fd >= 0)
        (void)close(f->fd);
    free(f);
    return NULL;
}
