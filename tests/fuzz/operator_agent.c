/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz target: what the operator takes from an agent: states by long poll, answers to
 * configurations and to changes of nodes.
 *
 * The linker sends http_client_call here.  Steps: A n answers the n-th open call with status 200
 * and what has gathered; B n with another status; F n fails it; P pushes a configuration of which
 * what has gathered is a part; N changes a node, K cancels that, L makes another link.  Time passes
 * by the steps of peers.h.
 *
 * What must hold: each change is answered once; nothing is told after the link is gone, or inside a
 * call of its owner; a view is there whenever a whole state was told.
 */
#include <stdio.h>

#include "src/base/alloc.h"
#include "src/base/list.h"
#include "src/operator/agent_link.h"
#include "tests/fuzz/peers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
struct http_call *__wrap_http_client_call(struct http_client *c, const struct http_call_options *o);
void __wrap_http_call_cancel(struct http_call *call);
const char *__wrap_http_answer_header(const struct http_answer *a, const char *name);

struct http_call {
    struct list link;
    http_done_fn fn;
    void *arg;
    size_t max;
};

static struct {
    struct loop *loop;
    struct agent_link *link;
    struct list calls;
    struct agent_call *change; /* of a node, under way */
    bool inside;               /* a call of the owner */
} world;

static char client; /* stands for one */

struct http_call *__wrap_http_client_call(struct http_client *c, const struct http_call_options *o)
{
    struct http_call *call = xcalloc(1, sizeof(*call));

    assert((void *)c == &client && starts_with(o->url, "https://") && o->on_done && !o->on_chunk);
    *call = (struct http_call){.fn = o->on_done, .arg = o->arg, .max = o->max_body_bytes};
    list_append(&world.calls, &call->link);
    return call;
}

static void drop(struct http_call *call)
{
    list_remove(&call->link);
    free(call);
}

void __wrap_http_call_cancel(struct http_call *call)
{
    drop(call);
}

const char *__wrap_http_answer_header(const struct http_answer *a, const char *name)
{
    assert(a && name);
    return NULL;
}

static void changed(void *arg, const struct agent_change *c)
{
    (void)arg;
    assert(world.link && !world.inside && c);
    assert(!c->full || agent_link_view(world.link));
}

static void lost(void *arg)
{
    (void)arg;
    assert(world.link && !world.inside && !agent_link_view(world.link));
    assert(agent_link_trouble(world.link));
}

static void pushed(void *arg)
{
    (void)arg;
    assert(world.link && !world.inside);
    (void)agent_link_trouble(world.link);
}

static void node_changed(void *arg, const struct err *e)
{
    (void)arg;
    assert(world.change && !world.inside && (!e || e->text[0]));
    world.change = NULL;
}

static struct http_call *nth_call(unsigned char n)
{
    struct list *at = world.calls.next;

    for (unsigned char i = 0; i < n % 4 && at->next != &world.calls; i++)
        at = at->next;
    return at == &world.calls ? NULL : LIST_ENTRY(at, struct http_call, link);
}

static void answer(struct http_call *call, int status, struct str body)
{
    struct http_answer a = {.status = status, .body = body, .call = call};
    http_done_fn fn = call->fn;
    void *arg = call->arg;

    drop(call);
    fn(arg, &a, NULL);
}

static void fail(struct http_call *call, unsigned char n)
{
    static const int nums[] = {-ECONNREFUSED, -ETIMEDOUT, -ECONNRESET, -EKEYREJECTED, -EMSGSIZE};
    http_done_fn fn = call->fn;
    void *arg = call->arg;
    struct err e = {0};

    (void)err_set(&e, nums[n % ARRAY_LEN(nums)], n % 2 ? ERR_RETRY : ERR_PERMANENT, "no answer");
    drop(call);
    fn(arg, NULL, &e);
}

static void make_link(void)
{
    static const struct agent_target t = {
        .address = "10.0.0.7", .port = 6821, .cert_pem = "c", .host = "h", .token = "t"};
    static const struct agent_events events = {.changed = changed, .lost = lost, .pushed = pushed};

    world.link = agent_link_new(world.loop, (struct http_client *)(void *)&client, &t, &events);
    assert(agent_link_is_to(world.link, &t));
}

static void act(char step, struct str text)
{
    AUTO(arena_done) struct arena a = {0};
    struct jsn *body = NULL;

    if (jsn_parse(&a, text, NULL, &body, NULL) < 0 || !jsn_is(body, JSN_OBJECT))
        body = jsn_object(&a);
    world.inside = true;
    if (step == 'P') {
        if (!jsn_get_str(body, "declared"))
            jsn_set_str(&a, body, "declared", "h"); /* the operator's own bodies have one */
        agent_link_push(world.link, body);
    } else if (step == 'N' && !world.change) {
        jsn_set_str(&a, body, "action", "drain");
        world.change = agent_link_change_node(world.link, "n1", body, node_changed, NULL);
    } else if (step == 'K' && world.change) {
        agent_call_cancel(TAKE(world.change));
    } else if (step == 'L') {
        world.link = agent_link_free(world.link);
        make_link();
    }
    world.inside = false;
}

static void take_step(void *arg, struct peers *p, char step, unsigned char n)
{
    static const int statuses[] = {400, 401, 403, 404, 409, 413, 422, 429, 500, 503, 204, 302};
    AUTO(buf_done) struct buf said = p->gathered;
    struct http_call *call = nth_call(n);

    (void)arg;
    p->gathered = (struct buf){0};
    if (step == 'A' && call)
        answer(call, 200, buf_view(&said));
    else if (step == 'B' && call)
        answer(call, statuses[n / 4 % ARRAY_LEN(statuses)], buf_view(&said));
    else if (step == 'F' && call)
        fail(call, n / 4);
    else
        act(step, buf_view(&said));
    peers_turn(p, 8);
}

static bool drop_gathered(void *arg, struct peers *p)
{
    (void)arg;
    buf_clear(&p->gathered);
    peers_turn(p, 8);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct peers_target t = {.send = drop_gathered, .step = take_step};

    script_clock_reset();
    list_init(&world.calls);
    if (loop_new(&world.loop, NULL) < 0)
        abort();
    make_link();
    peers_run(world.loop, &t, data, size);
    if (world.change)
        agent_call_cancel(TAKE(world.change));
    world.link = agent_link_free(world.link);
    assert(list_empty(&world.calls));
    world.loop = loop_free(world.loop);
    return 0;
}
