/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Host keys in the making.
 *
 * An RSA key takes from tenths of a second to seconds, and the loop cannot wait.  So each LoginSet
 * without keys has a thread for as long as that takes; it touches nothing but its order, and says
 * by a pipe that it is done.  A failure is logged and forgotten: the next plan orders again.
 */
#include "src/operator/host_keys.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "src/base/alloc.h"
#include "src/base/log.h"
#include "src/operator/ssh_key.h"

#define N_TYPES (LOGIN_KEY_FILES / 2)

struct order {
    struct host_keys *owner;
    char *key;
    pthread_t thread;
    bool running;
    bool good;
    atomic_bool stop;
    struct buf files[LOGIN_KEY_FILES]; /* the thread's until it is joined */
    struct err e;
    int pipe[2];
    struct loop_source *source;
    struct build_host_keys keys;
};

static void *make_all(void *arg)
{
    struct order *o = arg;
    int r = 0;

    for (size_t type = 0; type < N_TYPES && r == 0; type++)
        r = ssh_key_make((enum ssh_key_type)type, &o->stop, &o->files[2 * type],
                         &o->files[2 * type + 1], &o->e);
    (void)!write(o->pipe[1], "", 1);
    return NULL;
}

static void join(struct order *o)
{
    if (o->running)
        (void)pthread_join(o->thread, NULL);
    o->running = false;
}

static void order_free(void *arg)
{
    struct order *o = arg;

    atomic_store(&o->stop, true);
    join(o);
    o->source = loop_source_free(o->source);
    for (size_t i = 0; i < ARRAY_LEN(o->pipe); i++)
        if (o->pipe[i] >= 0)
            close(o->pipe[i]);
    for (size_t i = 0; i < LOGIN_KEY_FILES; i++) {
        if (o->files[i].p)
            explicit_bzero(o->files[i].p, o->files[i].n);
        buf_done(&o->files[i]);
    }
    free(o->key);
    free(o);
}

static void on_done(void *arg, int fd, uint32_t events)
{
    struct order *o = arg;

    (void)fd;
    (void)events;
    join(o);
    o->source = loop_source_free(o->source);
    o->good = o->e.num == 0;
    for (size_t i = 0; i < LOGIN_KEY_FILES; i++)
        o->keys.texts[i] = buf_str(&o->files[i]);
    if (!o->good)
        log_error("%s: no host keys: %s", o->key, o->e.text);
    queue_add(o->owner->queue, o->key);
}

/* A thread of ours gets no signals: the loop does. */
static int start(struct order *o)
{
    sigset_t all;
    sigset_t before;
    int r;

    if (pipe2(o->pipe, O_CLOEXEC) < 0)
        return -errno;
    sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    r = pthread_create(&o->thread, NULL, make_all, o);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (r != 0)
        return -r;
    o->running = true;
    o->source = loop_add_fd(o->owner->loop, o->pipe[0], EPOLLIN, on_done, o);
    return 0;
}

static void order_new(struct host_keys *h, const char *key)
{
    struct order *o = xcalloc(1, sizeof(*o));
    int r;

    o->owner = h;
    o->key = xstrdup(key);
    o->pipe[0] = o->pipe[1] = -1;
    r = start(o);
    if (r < 0) {
        log_error("%s: no thread to make host keys: %s", key, strerror(-r));
        order_free(o);
        return;
    }
    map_put(&h->orders, str_of(key), o);
}

void host_keys_init(struct host_keys *h, struct loop *loop, struct queue *queue)
{
    *h = (struct host_keys){.loop = loop, .queue = queue};
    map_init(&h->orders, order_free);
}

void host_keys_done(struct host_keys *h)
{
    map_done(&h->orders);
}

const struct build_host_keys *host_keys_get(struct host_keys *h, const char *key)
{
    struct order *o = map_get(&h->orders, str_of(key));

    if (!o)
        order_new(h, key);
    else if (!o->running && !o->good)
        host_keys_drop(h, key);
    return o && o->good ? &o->keys : NULL;
}

void host_keys_drop(struct host_keys *h, const char *key)
{
    (void)map_del(&h->orders, str_of(key));
}
