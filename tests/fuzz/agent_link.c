/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz target: the agent's link to its libslurm children.
 *
 * The linker sends child_start and its kin here: a child is what the script says.  Steps: C n makes
 * a call on lane n % 3 with what has gathered as its request (a time-out of n seconds); F n has the
 * child of lane n % 3 send what has gathered as a frame; E n ends it; S n has the next start fail;
 * R asks for new children.  Time passes by the steps of peers.h.
 *
 * What must hold: each call that was taken is answered exactly once, and none from within the call;
 * at most one child a lane; a child gets one call at a time.
 */
#include <stdio.h>

#include "src/agent/child.h"
#include "src/agent/link.h"
#include "src/base/alloc.h"
#include "tests/fuzz/peers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int __wrap_child_start(struct loop *l, struct list *family, char *const argv[], char *const envp[],
                       const struct child_events *events, void *arg, struct agent_child **ret_child,
                       struct err *e);
void __wrap_child_send(struct agent_child *c, struct str body);
void __wrap_child_abandon(struct agent_child *c);
void __wrap_child_dismiss(struct agent_child *c);
void __wrap_child_family_end(struct list *family);
const char *__wrap_child_said(struct agent_child *c, size_t max_bytes);
void __wrap_child_forget_said(struct agent_child *c);

struct agent_child {
    struct child_events events;
    void *arg;
    bool asked; /* has a call in hand */
};

static struct {
    struct link *link;
    struct agent_child *children[LANE_N];
    size_t n_children;
    bool fail_start;
    bool calling;
    int open; /* calls that were not answered */
} world;

int __wrap_child_start(struct loop *l, struct list *family, char *const argv[], char *const envp[],
                       const struct child_events *events, void *arg, struct agent_child **ret_child,
                       struct err *e)
{
    struct agent_child *c;

    (void)l;
    (void)family;
    assert(argv[0] && envp);
    if (world.fail_start)
        return err_set(e, -ENOEXEC, ERR_RETRY, "so the script says");
    c = xcalloc(1, sizeof(*c));
    *c = (struct agent_child){.events = *events, .arg = arg};
    assert(world.n_children < LANE_N);
    world.children[world.n_children++] = c;
    *ret_child = c;
    return 0;
}

void __wrap_child_send(struct agent_child *c, struct str body)
{
    assert(!c->asked && body.n > 0);
    c->asked = true;
}

static void forget(struct agent_child *c)
{
    for (size_t i = 0; i < world.n_children; i++) {
        if (world.children[i] == c) {
            world.children[i] = world.children[--world.n_children];
            free(c);
            return;
        }
    }
    abort(); /* it was let go of before */
}

void __wrap_child_abandon(struct agent_child *c)
{
    forget(c);
}

void __wrap_child_dismiss(struct agent_child *c)
{
    forget(c);
}

void __wrap_child_family_end(struct list *family)
{
    (void)family;
    while (world.n_children > 0)
        forget(world.children[0]);
}

const char *__wrap_child_said(struct agent_child *c, size_t max_bytes)
{
    assert(c && max_bytes > 0);
    return "said";
}

void __wrap_child_forget_said(struct agent_child *c)
{
    assert(c);
}

static void on_answer(void *arg, int r, const struct jsn *answer, const struct err *e)
{
    assert(arg == &world && !world.calling && world.open > 0);
    assert(r == 0 ? answer != NULL : e && e->text[0]);
    world.open--;
}

static void call(struct str text, unsigned char n)
{
    AUTO(arena_done) struct arena a = {0};
    struct jsn *request = NULL;

    if (jsn_parse(&a, text, NULL, &request, NULL) < 0 || !jsn_is(request, JSN_OBJECT))
        request = jsn_object(&a);
    world.calling = true;
    if (link_call(world.link, (enum link_lane)(n % LANE_N), request, (uint64_t)n * 1000 + 1,
                  on_answer, &world) == 0)
        world.open++;
    world.calling = false;
}

static void end_child(struct agent_child *c)
{
    struct child_events events = c->events;
    struct err e = {0};
    void *arg = c->arg;

    (void)err_set(&e, -EPIPE, ERR_RETRY, "the child ended");
    forget(c);
    events.on_end(arg, -EPIPE, &e);
}

static void take_step(void *arg, struct peers *p, char step, unsigned char n)
{
    AUTO(buf_done) struct buf said = p->gathered;
    struct agent_child *c = world.n_children ? world.children[n % world.n_children] : NULL;

    (void)arg;
    p->gathered = (struct buf){0};
    if (step == 'C') {
        call(buf_view(&said), n);
    } else if (step == 'F' && c) {
        c->asked = false;
        c->events.on_frame(c->arg, buf_view(&said));
    } else if (step == 'E' && c) {
        end_child(c);
    } else if (step == 'S') {
        world.fail_start = n % 2;
    } else if (step == 'R') {
        link_restart(world.link);
    }
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
    AUTO(loop_free) struct loop *loop = NULL;
    struct link_options o = {.program = "/nonexistent", .slurm_conf = "/nonexistent"};
    struct peers_target t = {.send = drop_gathered, .step = take_step};

    script_clock_reset();
    world.open = 0;
    world.fail_start = false;
    if (loop_new(&loop, NULL) < 0)
        abort();
    world.link = link_new(loop, &o);
    peers_run(loop, &t, data, size);
    for (int i = 0; i < 600 && world.open > 0; i++) {
        script_clock_advance(1000);
        (void)loop_turn(loop, 0);
    }
    assert(world.open == 0);
    world.link = link_free(world.link);
    assert(world.n_children == 0);
    return 0;
}
