/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A model of scheduler and kubelets: pods get a machine, start, end, and sometimes die. */
#include "src/base/clock.h"
#include "src/build/labels.h"
#include "tests/sim/sim.h"

void kubelet_appeared(struct sim *s, const struct rev *pod)
{
    struct sim_pod *p = &s->pods[slurm_node_number(pod->name)];

    *p = (struct sim_pod){.life = POD_NEW};
    (void)snprintf(p->uid, sizeof(p->uid), "%s", pod->pod.uid);
    sim_tell(s, "api: pod %s is made", pod->name);
}

static void set_ready(struct sim *s, struct arena *a, struct jsn *v, bool ready)
{
    struct jsn *list = jsn_get(v, "status.conditions");
    struct jsn *c = jsn_object(a);
    char text[CLOCK_RFC3339_LEN];

    if (!list) {
        list = jsn_array(a);
        jsn_set_path(a, v, "status.conditions", list);
    }
    for (size_t i = jsn_len(list); i-- > 0;)
        if (streq(jsn_get_str(jsn_item(list, i), "type"), "Ready"))
            jsn_remove_at(list, i);
    clock_rfc3339(sim_now_us(s), text);
    jsn_set_str(a, c, "type", "Ready");
    jsn_set_str(a, c, "status", ready ? "True" : "False");
    jsn_set_str(a, c, "lastTransitionTime", text);
    jsn_append(a, list, c);
}

static void place(struct sim *s, unsigned node)
{
    AUTO(arena_done) struct arena a = {0};
    struct jsn *v = api_edit(s, &a, "Pod", slurm_node_name(node));

    jsn_set_path(&a, v, "spec.nodeName", jsn_stringf(&a, "machine-%u", node));
    api_store(s, v, "Pod", slurm_node_name(node));
    s->pods[node].life = POD_PLACED;
}

/* The kubelet tells late that it runs: slurmd has registered by then. */
static void start(struct sim *s, unsigned node)
{
    s->pods[node].life = POD_STARTED;
    sim_tell(s, "kubelet: %s runs", slurm_node_name(node));
}

static void tell_running(struct sim *s, unsigned node)
{
    AUTO(arena_done) struct arena a = {0};
    struct jsn *v = api_edit(s, &a, "Pod", slurm_node_name(node));

    if (streq(jsn_get_str(v, "status.phase"), "Running"))
        return;
    jsn_set_path(&a, v, "status.phase", jsn_string(&a, "Running"));
    set_ready(s, &a, v, true);
    api_store(s, v, "Pod", slurm_node_name(node));
}

/* slurmd tells slurmctld that its pod ends, if it can. */
static void retire(struct sim *s, unsigned node)
{
    struct sim_node *n = &s->slurm.nodes[node];

    if (!n->exists || s->slurm.down || chance_one_in(&s->chance, 8))
        return;
    n->down = true;
    if (!n->by_admin || !n->drained) {
        (void)snprintf(n->reason, sizeof(n->reason), "slurm-operator: Pod is terminating");
        n->by_admin = false;
    }
}

static void end(struct sim *s, unsigned node)
{
    struct sim_pod *p = &s->pods[node];
    bool ran = p->life == POD_STARTED || p->life == POD_REGISTERED_UP;

    if (ran)
        slurm_lose_node(s, node, p->ours, "its pod was deleted");
    if (ran)
        retire(s, node);
    sim_tell(s, "api: pod %s is gone", slurm_node_name(node));
    *p = (struct sim_pod){0};
    api_remove(s, "Pod", slurm_node_name(node));
}

static void crash(struct sim *s, unsigned node)
{
    AUTO(arena_done) struct arena a = {0};
    struct jsn *v = api_edit(s, &a, "Pod", slurm_node_name(node));

    slurm_lose_node(s, node, false, "its machine died");
    sim_tell(s, "kubelet: %s crashes", slurm_node_name(node));
    jsn_set_path(&a, v, "status.phase", jsn_string(&a, "Failed"));
    set_ready(s, &a, v, false);
    api_store(s, v, "Pod", slurm_node_name(node));
    s->pods[node].life = POD_OVER;
}

/* Its slurmd starts again when the annotation changes; how often is not counted here. */
static bool is_asked_to_register(const struct sim *s, unsigned node)
{
    const struct rev *r = revs_find(&s->api.objects, "Pod", slurm_node_name(node));

    return jsn_member(jsn_get(r->v, "metadata.annotations"), STR(ANNOTATION_REGISTER)) != NULL;
}

void kubelet_step(struct sim *s)
{
    unsigned node = chance_below(&s->chance, SIM_NODES);
    struct sim_pod *p = &s->pods[node];

    if (!p->uid[0])
        return;
    if (p->deleting) {
        end(s, node);
        return;
    }
    if (!s->calm && p->life >= POD_STARTED && p->life != POD_OVER &&
        chance_one_in(&s->chance, 200)) {
        s->tally.faults++;
        crash(s, node);
        return;
    }
    if (p->life == POD_NEW) {
        place(s, node);
    } else if (p->life == POD_PLACED) {
        start(s, node);
    } else if (p->life == POD_STARTED && !s->slurm.down) {
        slurm_register(s, node);
        p->life = POD_REGISTERED_UP;
    } else if (p->life == POD_REGISTERED_UP) {
        tell_running(s, node);
        if (!s->slurm.nodes[node].exists && !s->slurm.down && is_asked_to_register(s, node))
            slurm_register(s, node);
    }
}
