/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The watchdog thread.
 *
 * A timer runs while a call does; the thread sleeps until it fires, so that short calls cost two
 * settings of a timer and wake nobody.  When it fires, munged is looked for (libslurm waits for it,
 * too, and a ping cannot do without), then every controller is pinged: a ping makes one connection
 * and does not try again, so that a port where nobody listens is known at once.  If one of them
 * takes the connection, slurmctld is there and just slow: the call goes on, and is looked at again
 * a little later.
 *
 * The lock is held while the answer is written and the process ends, so that a call that comes back
 * in that very moment cannot write another one.
 */
#include "src/agent/worker/watchdog.h"

#include <pthread.h>
#include <stdio.h>
#include <sys/timerfd.h>

#include "src/agent/frame.h"
#include "src/agent/worker/controllers.h"
#include "src/agent/worker/munge.h"
#include "src/base/file.h"
#include "src/json/jsn.h"

#define LOOK_NS 300000000L

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t calls; /* begun so far */
static bool running;
static int socket_fd = -1;
static int timer_fd = -1;

static void timer_set(long every_ns)
{
    struct itimerspec t = {{.tv_nsec = every_ns}, {.tv_nsec = every_ns}};

    if (timer_fd >= 0)
        (void)timerfd_settime(timer_fd, 0, &t, NULL);
}

void watchdog_begin(void)
{
    (void)pthread_mutex_lock(&lock);
    calls++;
    running = true;
    (void)pthread_mutex_unlock(&lock);
    timer_set(LOOK_NS);
}

void watchdog_end(void)
{
    (void)pthread_mutex_lock(&lock);
    running = false;
    (void)pthread_mutex_unlock(&lock);
    timer_set(0);
}

/* What stands in the way of the call, if that is for certain; else NULL. */
static const char *obstacle(void)
{
    static char text[256];

    if (munge_down()) {
        (void)snprintf(text, sizeof(text), "munged is not there: nobody listens at '%s'",
                       munge_socket());
        return text;
    }
    return controllers_all_down() ? "slurmctld is not there: nobody listens at its port" : NULL;
}

/* With the lock held. */
static NORETURN void answer_down(const char *text)
{
    AUTO(buf_done) struct buf body = {0};
    AUTO(buf_done) struct buf frame = {0};

    buf_adds(&body, "{\"ok\":false,\"last\":true,\"error\":{\"kind\":\"down\",\"code\":1800,"
                    "\"text\":");
    jsn_print_string(&body, str_of(text));
    buf_adds(&body, "}}");
    frame_add(&frame, buf_view(&body));
    _exit(file_write_all(socket_fd, buf_view(&frame)) < 0);
}

/* The number of the call that is running; 0 if none is. */
static uint64_t call_running(void)
{
    uint64_t n;

    (void)pthread_mutex_lock(&lock);
    n = running ? calls : 0;
    (void)pthread_mutex_unlock(&lock);
    return n;
}

static void *watch(void *arg)
{
    uint64_t fired;

    (void)arg;
    while (read(timer_fd, &fired, sizeof(fired)) == sizeof(fired)) {
        uint64_t call = call_running();
        const char *text = call ? obstacle() : NULL;

        if (!text)
            continue;
        (void)pthread_mutex_lock(&lock);
        if (running && calls == call)
            answer_down(text);
        (void)pthread_mutex_unlock(&lock);
    }
    return NULL;
}

void watchdog_start(int fd)
{
    pthread_t thread;

    socket_fd = fd;
    timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
    if (timer_fd >= 0 && pthread_create(&thread, NULL, watch, NULL) == 0)
        (void)pthread_detach(thread);
}
