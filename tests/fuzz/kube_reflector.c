/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz target: what operator and node read of an API server: lists in pages, and watches.
 *
 * The linker sends kube_call_start here.  What a script says is the next piece of the stream of the
 * call that is open; step A n ends that call with what has gathered as its answer (a stream ends in
 * order), step F n fails it with the n-th status and what has gathered as its body.  Time passes by
 * the steps of peers.h: silence ends a watch, a pause ends before the next try.
 *
 * What must hold: one call at a time; objects have names; between begin and end only puts; nothing
 * is told once the reflector is gone.
 */
#include <stdio.h>

#include "src/base/alloc.h"
#include "src/kube/reflector.h"
#include "tests/fuzz/peers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
struct kube_call *__wrap_kube_call_start(struct kube_client *c, const struct kube_request *r);
void __wrap_kube_call_cancel(struct kube_call *call);
struct loop *__wrap_kube_client_loop(const struct kube_client *c);

struct kube_call {
    kube_chunk_fn on_chunk;
    kube_done_fn fn;
    void *arg;
};

static struct {
    struct loop *loop;
    struct kube_call *call;
    bool listing;
    size_t told;
} world;

static char client; /* stands for one; nothing is behind it */

struct kube_call *__wrap_kube_call_start(struct kube_client *c, const struct kube_request *r)
{
    struct kube_call *call = xcalloc(1, sizeof(*call));

    assert((void *)c == &client && !world.call && r->verb == KUBE_LIST);
    *call = (struct kube_call){r->on_chunk, r->fn, r->arg};
    world.call = call;
    return call;
}

void __wrap_kube_call_cancel(struct kube_call *call)
{
    assert(call && call == world.call);
    world.call = NULL;
    free(call);
}

struct loop *__wrap_kube_client_loop(const struct kube_client *c)
{
    assert((const void *)c == &client);
    return world.loop;
}

static void begin(void *arg)
{
    (void)arg;
    world.listing = true;
}

static void put(void *arg, struct jsn *object, struct arena *arena)
{
    (void)arg;
    (void)arena;
    assert(jsn_is(object, JSN_OBJECT) && jsn_get_str(object, "metadata.name"));
    world.told++;
}

static void drop(void *arg, struct jsn *object, struct arena *arena)
{
    (void)arg;
    (void)arena;
    assert(!world.listing && jsn_get_str(object, "metadata.name"));
}

static void end(void *arg)
{
    (void)arg;
    assert(world.listing);
    world.listing = false;
}

static void trouble(void *arg, const struct kube_failure *f, int64_t retry_ms)
{
    (void)arg;
    assert(f && f->err.text[0] && retry_ms >= 0);
}

/* A piece of the stream. */
static bool send_piece(void *arg, struct peers *p)
{
    AUTO(buf_done) struct buf piece = p->gathered;

    (void)arg;
    p->gathered = (struct buf){0};
    if (world.call && world.call->on_chunk && piece.n > 0)
        world.call->on_chunk(world.call->arg, buf_view(&piece));
    peers_turn(p, 8);
    return true;
}

static void finish(const struct kube_answer *a, const struct kube_failure *f)
{
    struct kube_call *call = TAKE(world.call);

    call->fn(call->arg, a, f);
    free(call);
}

static void answer(struct str text)
{
    AUTO(arena_done) struct arena a = {0};
    struct kube_answer answer = {.code = 200, .text = text, .arena = &a};

    if (!world.call->on_chunk && jsn_parse(&a, text, NULL, &answer.value, NULL) < 0)
        return; /* the client fails such a call by itself */
    finish(&answer, NULL);
}

static void fail(unsigned char n, struct str body)
{
    static const int codes[] = {400, 401, 403, 404, 410, 429, 500, 503};
    struct kube_failure f = {0};

    kube_failure_from_answer(&f, "list", codes[n % ARRAY_LEN(codes)], body);
    finish(NULL, &f);
}

static void take_step(void *arg, struct peers *p, char step, unsigned char n)
{
    AUTO(buf_done) struct buf body = p->gathered;

    (void)arg;
    p->gathered = (struct buf){0};
    if (world.call && step == 'A')
        answer(buf_view(&body));
    else if (world.call && step == 'F')
        fail(n, buf_view(&body));
    peers_turn(p, 8);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct kube_reflector_options o = {
        .scope = {.resource = {"", "v1", "pods"}},
        .sink = {.begin = begin, .put = put, .drop = drop, .end = end, .trouble = trouble},
        .page_limit = 2,
        .watch_timeout_s = 300,
    };
    struct peers_target t = {.send = send_piece, .step = take_step};
    struct kube_reflector *r;

    script_clock_reset();
    world.listing = false;
    if (loop_new(&world.loop, NULL) < 0)
        abort();
    r = kube_reflector_new((struct kube_client *)(void *)&client, &o);
    peers_run(world.loop, &t, data, size);
    r = kube_reflector_free(r);
    if (world.call)
        abort();
    world.loop = loop_free(world.loop);
    return 0;
}
