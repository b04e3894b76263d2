/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The client of an API server: its connections, its login, and the queue of its calls.
 *
 * Calls start in order, as the rate limit (a token bucket) and the number in flight allow.  Urgent
 * ones are held back by neither.  A stream leaves the count of calls in flight as soon as it is
 * sent: it lasts.  What happens to a single call is in call.c.
 */
#include "src/kube/client.h"

#include "src/base/alloc.h"
#include "src/kube/client_private.h"

static void time_reached(void *arg)
{
    client_pump(arg);
}

int kube_client_new(struct loop *l, const struct kube_target *t,
                    const struct kube_client_options *o, struct kube_client **ret_client,
                    struct err *e)
{
    static const struct kube_client_options none;
    struct kube_client *c;
    struct http_client *http;
    int r;

    if (!o)
        o = &none;
    r = http_client_new(l, &http, e);
    if (r < 0)
        return r;
    c = xcalloc(1, sizeof(*c));
    c->loop = l;
    c->http = http;
    c->target = t;
    c->login = kube_login_new(l, t);
    c->max_in_flight = o->max_in_flight ? o->max_in_flight : 32;
    c->user_agent = xasprintf("User-Agent: %s",
                              o->user_agent ? o->user_agent : "slurmkeeper/" SLURMKEEPER_VERSION);
    c->field_manager = xstrdup(o->field_manager ? o->field_manager : "slurmkeeper");
    c->timer = loop_add_timer(l, time_reached, c);
    pace_bucket_init(&c->bucket, o->per_second != 0 ? o->per_second : 50,
                     o->burst > 0 ? o->burst : 100, loop_now_ms(l));
    list_init(&c->calls);
    list_init(&c->queue);
    *ret_client = c;
    return 0;
}

struct kube_client *kube_client_free(struct kube_client *c)
{
    if (!c)
        return NULL;
    LIST_FOR_EACH (call, &c->calls, struct kube_call, link)
        kube_call_cancel(call);
    (void)kube_login_free(c->login);
    (void)http_client_free(c->http);
    (void)loop_source_free(c->timer);
    free(c->user_agent);
    free(c->field_manager);
    free(c);
    return NULL;
}

struct loop *kube_client_loop(const struct kube_client *c)
{
    return c->loop;
}

const char *kube_client_namespace(const struct kube_client *c)
{
    return c->target->namespace;
}

void client_leave_flight(struct kube_call *call)
{
    struct kube_client *c = call->client;

    if (!call->counted)
        return;
    call->counted = false;
    c->in_flight--;
    if (!list_empty(&c->queue))
        loop_timer_arm(c->timer, 0);
}

/* Start what may start.  Urgent calls stand in the queue only until this looks at them. */
void client_pump(struct kube_client *c)
{
    LIST_FOR_EACH (call, &c->queue, struct kube_call, queued) {
        if (call->urgent)
            call_begin(call);
    }
    while (!list_empty(&c->queue) && c->in_flight < c->max_in_flight) {
        int64_t wait_ms = pace_bucket_take(&c->bucket, loop_now_ms(c->loop));

        if (wait_ms > 0) {
            loop_timer_arm(c->timer, wait_ms);
            return;
        }
        call_begin(LIST_ENTRY(c->queue.next, struct kube_call, queued));
    }
}
