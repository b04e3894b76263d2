/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Waiting until the nodes have the files of the reconfigure before.
 *
 * On a reconfigure slurmctld hands its files on to every slurmd that has them from it, and does
 * not tell the caller when they have arrived.  A slurmd that gets them twice at a time writes both
 * into one file (Slurm up to 25.05 at least), reads the mixture, and ends; in a container its jobs
 * end with it.  It happens when one reconfigure follows another while a slurmd does not accept
 * calls, as when it is reading its configuration and wants to register with a slurmctld that is
 * being restarted.  And a slurmctld that ends at once may not have told all of them.
 *
 * So a reconfigure or a restart after a reconfigure waits until nothing is under way to nodes:
 * slurmctld counts a message as such until slurmd has dealt with it.  A node that does not answer
 * holds it up for as long as slurmctld's own patience lasts, and not longer.
 */
#include "src/agent/apply/engine_impl.h"

#define LOOK_MS 20
#define PATIENCE_MS 12000 /* MessageTimeout is 10 s unless set */
#define RPC_TIMEOUT_MS 5000

static void look(void *arg);

static void go_on(struct job *j)
{
    j->wait.timer = loop_source_free(j->wait.timer);
    j->engine->handed_ms = 0;
    j->wait.then(j);
}

static void on_told(struct job *j, int r, const struct jsn *answer, const struct err *e)
{
    (void)e;
    /* one that is away tells nobody anything */
    if (r < 0 || jsn_get_int(answer, "messages", 0) <= 0) {
        go_on(j);
        return;
    }
    if (!j->wait.timer)
        j->wait.timer = loop_add_timer(j->engine->o.loop, look, j);
    loop_timer_arm(j->wait.timer, LOOK_MS);
}

static void look(void *arg)
{
    struct job *j = arg;
    struct engine *g = j->engine;
    AUTO(arena_done) struct arena a = {0};
    struct jsn *request = jsn_object(&a);

    jsn_set_str(&a, request, "call", "under-way");
    if (loop_now_ms(g->o.loop) > g->handed_ms + PATIENCE_MS ||
        job_ask(j, LANE_WRITE, request, RPC_TIMEOUT_MS, on_told) < 0)
        go_on(j);
}

void handed_note(struct engine *g)
{
    const struct host_set *nodes = hub_nodes(g->o.hub, false);

    handed_forget(g);
    g->handed_to = hostset_union(nodes, nodes); /* a copy */
    g->handed_ms = loop_now_ms(g->o.loop);
}

void handed_forget(struct engine *g)
{
    g->handed_to = hostset_free(g->handed_to);
}

void handed_set_aside(struct job *j)
{
    (void)hostset_free(j->handed_before);
    j->handed_before = TAKE(j->engine->handed_to);
}

void handed_back(struct job *j)
{
    bool told = j->engine->handed_to != NULL; /* of the files that are no more */

    handed_forget(j->engine);
    if (!told)
        j->engine->handed_to = TAKE(j->handed_before);
}

void handed_wait(struct job *j, job_fn then)
{
    j->wait.then = then;
    if (j->engine->handed_ms == 0)
        then(j);
    else
        look(j);
}
