/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests, and who waits for their answers.
 *
 * A waiter is in the list of exactly one request until it is answered or forgotten.  When a newer
 * declaration takes the place of one that has not begun, its waiters move along: they get the newer
 * one's answer.
 */
#include "src/agent/apply/request.h"

#include "src/agent/apply/bug.h"
#include "src/base/alloc.h"

struct engine_waiter {
    struct list link; /* in request->waiters */
    engine_answer_fn fn;
    void *arg;
};

static void waiters_move(struct request *from, struct request *to)
{
    LIST_FOR_EACH (w, &from->waiters, struct engine_waiter, link) {
        list_remove(&w->link);
        if (bug_is(BUG_LOSE_WAITER))
            free(w);
        else
            list_append(&to->waiters, &w->link);
    }
}

struct request *request_new(enum request_kind kind, unsigned wants, struct record *declared,
                            struct request *before)
{
    struct request *r = xcalloc(1, sizeof(*r));

    r->kind = kind;
    r->wants = wants;
    r->declared = declared;
    list_init(&r->waiters);
    if (before) { /* it has not begun */
        waiters_move(before, r);
        r->wants |= before->wants & WANT_ALL; /* an undo that did not get through, say */
        (void)request_free(before);
    }
    return r;
}

struct request *request_free(struct request *r)
{
    if (!r)
        return NULL;
    LIST_FOR_EACH (w, &r->waiters, struct engine_waiter, link)
        engine_forget(w);
    (void)record_free((struct record *)(uintptr_t)r->declared);
    free(r);
    return NULL;
}

struct engine_waiter *request_wait(struct request *r, engine_answer_fn fn, void *arg)
{
    struct engine_waiter *w;

    if (!fn)
        return NULL;
    w = xcalloc(1, sizeof(*w));
    w->fn = fn;
    w->arg = arg;
    list_append(&r->waiters, &w->link);
    return w;
}

void engine_forget(struct engine_waiter *w)
{
    if (!w)
        return;
    list_remove(&w->link);
    free(w);
}

void request_answer(struct request *r, int status, const struct jsn *answer)
{
    while (!list_empty(&r->waiters)) {
        struct engine_waiter *w = LIST_ENTRY(r->waiters.next, struct engine_waiter, link);

        list_remove(&w->link);
        w->fn(w->arg, status, answer);
        if (bug_is(BUG_ANSWER_TWICE))
            w->fn(w->arg, status, answer);
        free(w);
    }
}
