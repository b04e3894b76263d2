/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The watchdog thread.
 *
 * A timer runs while a call does; the thread sleeps until it fires, so that short calls cost two
 * settings of a timer and wake nobody.  When it fires, every controller is pinged: a ping makes one
 * connection and does not try again, so that a port where nobody listens is known at once.  If one
 * of them takes the connection, slurmctld is there and just slow: the call goes on, and is looked
 * at again a little later.
 *
 * The lock is held while the answer is written and the process ends, so that a call that comes back
 * in that very moment cannot write another one.
 */
#include "src/agent/worker/watchdog.h"

#include <pthread.h>
#include <sys/timerfd.h>

#include "src/agent/frame.h"
#include "src/agent/worker/controllers.h"
#include "src/base/file.h"

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

/* With the lock held. */
static void answer_down(void)
{
    AUTO(buf_done) struct buf frame = {0};

    frame_add(&frame, STR("{\"ok\":false,\"last\":true,\"error\":{\"kind\":\"down\",\"code\":1800,"
                          "\"text\":\"slurmctld is not there: nobody listens at its port\"}}"));
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

        if (call == 0 || !controllers_all_down())
            continue;
        (void)pthread_mutex_lock(&lock);
        if (running && calls == call)
            answer_down();
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
