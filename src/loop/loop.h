/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The event loop: one thread, explicit turns. */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/base/err.h"

/*
 * A turn: read the clock, wait (epoll), call back every source that is ready in the order of
 * priorities, then run the end-of-turn hooks, then free what died.  All ready sources of a turn are
 * served before its hooks run; so a hook can commit what a whole turn's callbacks wrote (one sync
 * for many requests) and then let the answers go.
 *
 * Callbacks do not block.  A callback may free any source, its own included: the memory goes at the
 * end of the turn, and a freed source is never called again.
 */
struct loop;
struct loop_source;

/* loop_new also has the process ignore SIGPIPE: writing to who has left is an error, not an end.
 * loop_free detaches sources that are still there: they never call back, their owners free
 * them. */
int loop_new(struct loop **ret_loop, struct err *e) MUST_CHECK;
struct loop *loop_free(struct loop *l);
DEFINE_AUTO(struct loop, loop_free);

/* Run until loop_stop; returns the code given there. */
int loop_run(struct loop *l);
void loop_stop(struct loop *l, int code);
/* One turn; waits at most max_wait_ms (-1: as long as it takes).  Returns 1 if anything was called
 * back, hooks included, else 0.  For tests and nested use. */
int loop_turn(struct loop *l, int max_wait_ms);

/* Milliseconds until something is due by itself: 0 for now, -1 for never.  For tests that have a
 * clock of their own. */
int64_t loop_wait_ms(const struct loop *l);

/* The clock as read at the start of the turn, monotonic. */
int64_t loop_now_ms(const struct loop *l);

enum loop_priority { LOOP_FIRST, LOOP_NORMAL, LOOP_LAST };

/* All loop_add_* return an owned source; loop_source_free takes it off the loop. */
struct loop_source *loop_source_free(struct loop_source *s);
DEFINE_AUTO(struct loop_source, loop_source_free);
void loop_source_set_priority(struct loop_source *s, enum loop_priority p);

/*
 * Descriptor: `events` are EPOLLIN, EPOLLOUT...; level triggered; fd stays the caller's, who frees
 * the source before closing it.  No events at all: the descriptor is not looked at, not even for
 * errors.  Regular files cannot be waited for and abort.
 */
typedef void (*loop_fd_fn)(void *arg, int fd, uint32_t events);
struct loop_source *loop_add_fd(struct loop *l, int fd, uint32_t events, loop_fd_fn fn, void *arg);
void loop_fd_set_events(struct loop_source *s, uint32_t events);

/* Timer: off until armed; fires once, may be armed again, also inside its callback. */
typedef void (*loop_timer_fn)(void *arg);
struct loop_source *loop_add_timer(struct loop *l, loop_timer_fn fn, void *arg);
void loop_timer_arm(struct loop_source *s, int64_t delay_ms);
void loop_timer_disarm(struct loop_source *s);
bool loop_timer_armed(const struct loop_source *s);

/* Call back once, later in this turn or in the next; before the end-of-turn hooks. */
typedef void (*loop_defer_fn)(void *arg);
void loop_defer(struct loop *l, loop_defer_fn fn, void *arg);

/* Call back at the very end of this turn, after the hooks: for freeing what may still be in use. */
void loop_defer_free(struct loop *l, loop_defer_fn fn, void *arg);

/* End-of-turn hook: called after each turn in which anything was called back; by priority, then in
 * the order of adding. */
struct loop_source *loop_add_turn_hook(struct loop *l, loop_defer_fn fn, void *arg);
/* The LOOP_LAST hooks run before the loop waits the next time, whatever the turn brings. */
void loop_want_hooks(struct loop *l);

/*
 * Signal: blocked in this thread and delivered here; unblocked when its last source is freed.  A
 * forked child inherits the blocking: call loop_signals_reset between fork and exec.
 */
typedef void (*loop_signal_fn)(void *arg, int signo);
struct loop_source *loop_add_signal(struct loop *l, int signo, loop_signal_fn fn, void *arg);
/* Unblock everything and put all handlers back to default.  Async-signal-safe. */
void loop_signals_reset(void);

/* Child: called once with its wait status (as waitpid gives it) when it has ended, and reaped. */
typedef void (*loop_child_fn)(void *arg, pid_t pid, int status);
struct loop_source *loop_add_child(struct loop *l, pid_t pid, loop_child_fn fn, void *arg);
