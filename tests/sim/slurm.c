/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A model of slurmctld with its nodes and jobs, and of the agent that changes nodes for us. */
#include "src/base/alloc.h"
#include "src/plan/nodeset_private.h"
#include "tests/sim/sim.h"

static const char *const names[SIM_NODES] = {"gpu-0", "gpu-1", "gpu-2", "gpu-3",
                                             "gpu-4", "gpu-5", "gpu-6", "gpu-7"};

const char *slurm_node_name(unsigned node)
{
    return names[node];
}

int slurm_node_number(const char *name)
{
    for (int i = 0; i < SIM_NODES; i++)
        if (streq(names[i], name))
            return i;
    abort();
}

unsigned slurm_jobs_on(const struct sim *s, unsigned node)
{
    unsigned n = 0;

    for (size_t i = 0; i < SIM_JOBS; i++)
        n += s->slurm.jobs[i].id && (s->slurm.jobs[i].nodes & (1U << node));
    return n;
}

static bool takes_jobs(const struct sim *s, unsigned node)
{
    const struct sim_node *n = &s->slurm.nodes[node];

    return n->exists && !n->down && !n->drained && !n->silent && slurm_jobs_on(s, node) < 2;
}

static void start_job(struct sim *s)
{
    unsigned want = 1 + chance_below(&s->chance, 3);
    unsigned first = chance_below(&s->chance, SIM_NODES);
    unsigned nodes = 0;
    struct sim_job *free_job = NULL;

    for (size_t i = 0; i < SIM_JOBS && !free_job; i++)
        if (!s->slurm.jobs[i].id)
            free_job = &s->slurm.jobs[i];
    for (unsigned i = 0; i < SIM_NODES && want > 0; i++)
        if (takes_jobs(s, (first + i) % SIM_NODES)) {
            nodes |= 1U << ((first + i) % SIM_NODES);
            want--;
        }
    if (!free_job || want > 0)
        return;
    *free_job = (struct sim_job){++s->slurm.last_job, nodes,
                                 s->now_ms + 100 + chance_below(&s->chance, 20000)};
    s->tally.jobs++;
    sim_tell(s, "slurm: job %u starts on nodes %02x", free_job->id, nodes);
    for (unsigned i = 0; i < SIM_NODES; i++)
        if ((nodes & (1U << i)) && s->pods[i].deleting && s->pods[i].ours &&
            (s->pods[i].life == POD_STARTED || s->pods[i].life == POD_REGISTERED_UP) &&
            s->slurm.nodes[i].risk_until_ms <= s->now_ms)
            sim_fail(s, "job %u starts on %s, whose pod we have deleted", free_job->id, names[i]);
}

static void end_jobs(struct sim *s)
{
    for (size_t i = 0; i < SIM_JOBS; i++)
        if (s->slurm.jobs[i].id && s->slurm.jobs[i].end_ms <= s->now_ms) {
            sim_tell(s, "slurm: job %u ends", s->slurm.jobs[i].id);
            s->slurm.jobs[i] = (struct sim_job){0};
            s->slurm.finished++;
        }
}

void slurm_lose_node(struct sim *s, unsigned node, bool ours, const char *how)
{
    for (size_t i = 0; i < SIM_JOBS; i++) {
        struct sim_job *j = &s->slurm.jobs[i];

        if (!j->id || !(j->nodes & (1U << node)))
            continue;
        if (ours && s->slurm.nodes[node].risk_until_ms <= s->now_ms)
            sim_fail(s, "job %u is killed on %s: %s", j->id, names[node], how);
        sim_tell(s, "slurm: job %u is lost with %s: %s", j->id, names[node], how);
        *j = (struct sim_job){0};
        s->slurm.lost_to_accidents++;
    }
}

static void set_reason(struct sim_node *n, const char *reason, bool by_admin)
{
    (void)snprintf(n->reason, sizeof(n->reason), "%s", reason ? reason : "");
    n->by_admin = by_admin;
}

void slurm_register(struct sim *s, unsigned node)
{
    struct sim_node *n = &s->slurm.nodes[node];

    if (!n->exists)
        *n = (struct sim_node){.exists = true};
    n->silent = false;
    if (n->down && streq(n->reason, "Not responding")) {
        n->down = false;
        if (!n->drained)
            set_reason(n, NULL, false);
    }
    sim_tell(s, "slurm: %s registers", names[node]);
}

/* slurmctld notices in its own time. */
static void notice_silence(struct sim *s, unsigned node)
{
    struct sim_node *n = &s->slurm.nodes[node];
    bool up = s->pods[node].uid[0] && s->pods[node].life == POD_REGISTERED_UP;

    if (!n->exists || up)
        return;
    n->silent = true;
    if (chance_one_in(&s->chance, 2) && !n->down) {
        n->down = true;
        if (!n->reason[0])
            set_reason(n, "Not responding", false);
        slurm_lose_node(s, node, false, "it does not answer");
    }
}

void slurm_step(struct sim *s)
{
    end_jobs(s);
    if (s->slurm.down) {
        s->slurm.down = !chance_one_in(&s->chance, 12);
        if (!s->slurm.down)
            sim_tell(s, "slurm: slurmctld is back");
        return;
    }
    if (chance_one_in(&s->chance, 3))
        notice_silence(s, chance_below(&s->chance, SIM_NODES));
    else
        start_job(s);
}

/* --- the agent: one change of one node --- */

static void refuse(struct sim_call *c, int num, enum err_class class, const char *why)
{
    c->agent_failed = true;
    (void)err_set(&c->agent_error, num, class, "%s", why);
}

static bool is_guarded(const struct sim_node *n, const struct sim_call *c)
{
    const char *prefix = jsn_get_str(c->body, "onlyIfReason");

    return prefix && n->reason[0] && !starts_with(n->reason, prefix);
}

static void drain(struct sim_node *n, const struct sim_call *c)
{
    if (n->drained && n->by_admin)
        return; /* it keeps their reason */
    n->drained = true;
    set_reason(n, jsn_get_str(c->body, "reason"), false);
}

static void hold(struct sim *s, unsigned node, struct sim_call *c)
{
    drain(&s->slurm.nodes[node], c);
    if (c->hold && slurm_jobs_on(s, node) > 0)
        refuse(c, -EBUSY, ERR_RETRY, "the node has work again");
}

static void delete(struct sim *s, unsigned node, struct sim_call *c)
{
    struct sim_node *n = &s->slurm.nodes[node];

    if (slurm_jobs_on(s, node) > 0) {
        refuse(c, -EBUSY, ERR_RETRY, "the node is busy");
        return;
    }
    *n = (struct sim_node){0};
}

void slurm_execute(struct sim *s, struct sim_call *c)
{
    unsigned node = (unsigned)slurm_node_number(c->node);
    struct sim_node *n = &s->slurm.nodes[node];
    const char *what = jsn_get_str(c->body, "action");

    c->executed = true;
    if (s->slurm.down) {
        refuse(c, -ENOTCONN, ERR_RETRY, "slurmctld does not answer");
        return;
    }
    if (!n->exists) {
        refuse(c, -ENOENT, ERR_CONFLICT, "there is no such node");
        return;
    }
    if (is_guarded(n, c)) {
        refuse(c, -EPERM, ERR_CONFLICT, "somebody else's reason");
        return;
    }
    sim_tell(s, "agent: %s %s (operator %u)", what, c->node, c->operator);
    if (streq(what, "delete")) {
        delete (s, node, c);
    } else if (streq(what, "drain")) {
        hold(s, node, c);
    } else if (streq(what, "undrain") || streq(what, "resume")) {
        if (n->drained && n->by_admin)
            sim_fail(s, "the drain of %s is somebody else's, and is undone", c->node);
        n->drained = false;
        if (streq(what, "resume"))
            n->down = false;
        if (!n->down)
            set_reason(n, NULL, false);
    }
}

/* --- what the agent tells --- */

static uint32_t state_of(const struct sim *s, unsigned node)
{
    const struct sim_node *n = &s->slurm.nodes[node];
    uint32_t state = NODE_FLAG_DYNAMIC;

    if (n->down)
        state |= NODE_BASE_DOWN;
    else
        state |= slurm_jobs_on(s, node) ? NODE_BASE_MIXED : NODE_BASE_IDLE;
    if (n->drained)
        state |= NODE_FLAG_DRAIN;
    if (n->silent)
        state |= NODE_FLAG_NO_RESPOND;
    return state;
}

void slurm_see(struct sim *s, struct sim_view *v)
{
    static const struct slurm_node_params params = {.features = SIM_SET};
    struct slurm_node *nodes;

    arena_done(&v->arena);
    *v = (struct sim_view){.taken_ms = s->now_ms, .full = true};
    v->state.down = s->slurm.down;
    if (s->slurm.down)
        return;
    nodes = arena_calloc(&v->arena, SIM_NODES, sizeof(*nodes));
    for (unsigned i = 0; i < SIM_NODES; i++) {
        const struct sim_node *n = &s->slurm.nodes[i];

        if (!n->exists)
            continue;
        nodes[v->state.n++] = (struct slurm_node){
            .params = &params,
            .name = names[i],
            .state = state_of(s, i),
            .reason = n->reason[0] ? arena_strdup(&v->arena, n->reason) : NULL,
            .jobs_known = true,
            .jobs = slurm_jobs_on(s, i),
            .reason_user = n->reason[0] ? (n->by_admin ? "ada" : "slurm") : NULL,
        };
    }
    v->state.nodes = nodes;
}
