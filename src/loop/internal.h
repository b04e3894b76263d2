/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of the loop share; nobody else includes it. */
#pragma once

#include <pthread.h>
#include <sys/epoll.h>

#include "src/base/list.h"
#include "src/loop/loop.h"

#define LOOP_PRIORITIES 3

enum source_kind { SOURCE_FD, SOURCE_TIMER, SOURCE_HOOK, SOURCE_SIGNAL, SOURCE_CHILD };

struct loop_source {
    struct loop *loop; /* NULL once the loop is gone */
    struct list all;   /* in loop->sources, or in loop->dead */
    struct list group; /* in loop->due (timer), ->hooks or ->signals */
    enum source_kind kind;
    enum loop_priority priority;
    bool dead;
    void *arg;
    union {
        struct {
            loop_fd_fn fn;
            int fd;
            uint32_t events; /* wanted */
            uint32_t ready;  /* seen in this turn, not yet told */
        } fd;
        struct {
            loop_timer_fn fn;
            int64_t at_ms;
            uint64_t order; /* of arming: equal times fire in this order */
            size_t slot;    /* in the heap, from 1; 0: not there */
        } timer;
        struct {
            loop_defer_fn fn;
        } hook;
        struct {
            loop_signal_fn fn;
            int signo;
        } signal;
        struct {
            loop_child_fn fn;
            pid_t pid;
            int pidfd;                /* -1: polled by the timer */
            struct loop_source *wait; /* the pidfd's or the timer's source */
        } child;
    };
};

struct call {
    loop_defer_fn fn;
    void *arg;
};

/* A growing queue of calls. */
struct calls {
    struct call *items;
    size_t n;
    size_t cap;
};

struct loop {
    int epfd;
    int64_t now_ms;
    bool stop;
    int stop_code;
    bool called;     /* this turn called somebody back */
    bool want_hooks; /* the last hooks must run before the next wait */
    size_t n_fds;
    struct epoll_event *events;
    size_t events_cap;
    struct list sources;
    struct list dead;
    struct list hooks;
    struct list due; /* timers whose time has come in this turn */

    struct loop_source **heap; /* heap[1..heap_n], earliest first */
    size_t heap_n;
    size_t heap_cap;
    uint64_t timer_order;

    struct calls deferred;
    struct calls burials;

    struct list signals;
    int signal_fd;
    struct loop_source *signal_source;
};

struct loop_source *source_new(struct loop *l, enum source_kind kind, void *arg);

/* timer.c */
void timer_forget(struct loop_source *s);
void timers_collect(struct loop *l);
/* Milliseconds until the first timer, -1 without one. */
int64_t timers_wait_ms(const struct loop *l);
void timer_fire(struct loop_source *s);

/* signal.c, child.c */
void signal_forget(struct loop_source *s);
void child_forget(struct loop_source *s);
