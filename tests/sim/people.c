/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What users, admins and bad luck do. */
#include "src/base/clock.h"
#include "src/plan/finalizer.h"
#include "src/plan/pods.h"
#include "tests/sim/sim.h"

#define RISK_MS 15000 /* longer than any view of ours may be old */

/* --- users --- */

static void make_set(struct sim *s)
{
    AUTO(arena_done) struct arena a = {0};
    struct jsn *v = jsn_object(&a);

    jsn_set_str(&a, v, "apiVersion", "slinky.slurm.net/v1beta1");
    jsn_set_str(&a, v, "kind", "NodeSet");
    jsn_set_path(&a, v, "metadata.name", jsn_string(&a, SIM_SET));
    jsn_set_path(&a, v, "metadata.namespace", jsn_string(&a, SIM_NAMESPACE));
    jsn_set_path(&a, v, "metadata.uid", jsn_stringf(&a, "set-%u", ++s->api.uids));
    jsn_set_path(&a, v, "metadata.generation", jsn_int(&a, 1));
    jsn_set_path(&a, v, "spec.controllerRef.name", jsn_string(&a, SIM_CONTROLLER));
    jsn_set_path(&a, v, "spec.replicas", jsn_int(&a, 3));
    jsn_set_path(&a, v, "spec.template.spec.nodeSelector.version",
                 jsn_stringf(&a, "%u", s->template_version));
    sim_tell(s, "user: makes the NodeSet with 3 replicas");
    api_store(s, v, "NodeSet", SIM_SET);
}

static void edit_set(struct sim *s, const char *path, int64_t number, const char *text)
{
    AUTO(arena_done) struct arena a = {0};
    struct jsn *v = api_edit(s, &a, "NodeSet", SIM_SET);

    if (!v)
        return;
    jsn_set_path(&a, v, path, text ? jsn_string(&a, text) : jsn_int(&a, number));
    jsn_set_path(&a, v, "metadata.generation",
                 jsn_int(&a, jsn_get_int(v, "metadata.generation", 0) + 1));
    api_store(s, v, "NodeSet", SIM_SET);
}

static void scale(struct sim *s)
{
    unsigned n = chance_below(&s->chance, SIM_NODES + 1);

    sim_tell(s, "user: %u replicas", n);
    edit_set(s, "spec.replicas", n, NULL);
}

static void change_template(struct sim *s)
{
    char text[16];

    (void)snprintf(text, sizeof(text), "%u", ++s->template_version);
    sim_tell(s, "user: template %s", text);
    edit_set(s, "spec.template.spec.nodeSelector.version", 0, text);
}

static void delete_set(struct sim *s)
{
    AUTO(arena_done) struct arena a = {0};
    struct jsn *v = api_edit(s, &a, "NodeSet", SIM_SET);
    char text[CLOCK_RFC3339_LEN];

    if (!v || jsn_get_str(v, "metadata.deletionTimestamp"))
        return;
    sim_tell(s, "user: deletes the NodeSet");
    clock_rfc3339(sim_now_us(s), text);
    jsn_set_path(&a, v, "metadata.deletionTimestamp", jsn_string(&a, text));
    api_store(s, v, "NodeSet", SIM_SET);
    api_collect(s);
}

static void cordon_pod(struct sim *s, unsigned node, bool on)
{
    AUTO(arena_done) struct arena a = {0};
    struct jsn *v = api_edit(s, &a, "Pod", slurm_node_name(node));
    struct jsn *meta;

    if (!v || s->pods[node].deleting)
        return;
    meta = jsn_ensure_object(&a, v, "metadata");
    if (on)
        jsn_set_str(&a, jsn_ensure_object(&a, meta, "annotations"), POD_CORDON, "true");
    else if (!jsn_del_member(jsn_get(meta, "annotations"), STR(POD_CORDON)))
        return;
    sim_tell(s, "user: %s pod %s", on ? "cordons" : "uncordons", slurm_node_name(node));
    api_store(s, v, "Pod", slurm_node_name(node));
}

static void use(struct sim *s)
{
    unsigned what = chance_below(&s->chance, 12);

    if (!revs_find(&s->api.objects, "NodeSet", SIM_SET))
        make_set(s);
    else if (what < 6)
        scale(s);
    else if (what < 8)
        change_template(s);
    else if (what < 9)
        delete_set(s);
    else if (what < 11)
        cordon_pod(s, chance_below(&s->chance, SIM_NODES), chance_one_in(&s->chance, 2));
    else
        api_delete_pod(s, slurm_node_name(chance_below(&s->chance, SIM_NODES)), false);
}

/* --- admins, with scontrol --- */

static void admin_drain(struct sim *s, unsigned node)
{
    struct sim_node *n = &s->slurm.nodes[node];

    if (!n->exists)
        return;
    sim_tell(s, "admin: drains %s", slurm_node_name(node));
    n->drained = true;
    n->by_admin = true;
    (void)snprintf(n->reason, sizeof(n->reason), "bad disk");
}

static void admin_resume(struct sim *s, unsigned node)
{
    struct sim_node *n = &s->slurm.nodes[node];

    if (!n->exists || (!n->drained && !n->down))
        return;
    sim_tell(s, "admin: resumes %s", slurm_node_name(node));
    n->risk_until_ms = s->now_ms + RISK_MS;
    n->drained = n->down = n->by_admin = false;
    n->reason[0] = '\0';
}

static void administer(struct sim *s)
{
    unsigned node = chance_below(&s->chance, SIM_NODES);

    if (s->slurm.down)
        return;
    if (chance_one_in(&s->chance, 2))
        admin_drain(s, node);
    else if (s->slurm.nodes[node].by_admin || chance_one_in(&s->chance, 8))
        admin_resume(s, node);
}

/* --- bad luck --- */

/* A leader that loses its lease stops before the other may begin; where clocks are wrong it does
 * not (overlap). */
static void lose_lead(struct sim *s)
{
    unsigned number = chance_below(&s->chance, SIM_OPERATORS);
    bool overlaps = s->options.overlap && chance_one_in(&s->chance, 4);

    sim_tell(s, "luck: operator %u takes the lead%s", number,
             overlaps ? ", and the other does not know it yet" : "");
    for (unsigned i = 0; i < SIM_OPERATORS; i++)
        if (i != number && !overlaps && s->operators[i].leads) {
            s->operators[i].leads = false;
            operator_kill(s, i);
            operator_start(s, i);
        }
    if (!s->operators[number].alive)
        operator_start(s, number);
    s->operators[number].leads = true;
}

static void restart_operator(struct sim *s)
{
    unsigned number = chance_below(&s->chance, SIM_OPERATORS);
    bool leads = s->operators[number].leads;

    operator_kill(s, number);
    s->operators[number].leads = leads;
    operator_start(s, number);
}

static void strike(struct sim *s)
{
    unsigned number = chance_below(&s->chance, SIM_OPERATORS);

    s->tally.faults++;
    switch (chance_below(&s->chance, 6)) {
    case 0:
        restart_operator(s);
        break;
    case 1:
        lose_lead(s);
        break;
    case 2:
        s->slurm.down = true;
        sim_tell(s, "luck: slurmctld is down");
        break;
    case 3:
        s->operators[number].watch_stalls_until_ms = s->now_ms + chance_below(&s->chance, 20000);
        sim_tell(s, "luck: watches of operator %u stall", number);
        break;
    case 4:
        s->slurm.agent_slow_until_ms = s->now_ms + chance_below(&s->chance, 20000);
        sim_tell(s, "luck: the agent is slow");
        break;
    default:
        s->now_ms += chance_below(&s->chance, 8000);
        sim_tell(s, "luck: nothing happens for a while");
        break;
    }
}

void people_step(struct sim *s)
{
    switch (chance_below(&s->chance, 4)) {
    case 0:
        use(s);
        break;
    case 1:
        administer(s);
        break;
    case 2:
        strike(s);
        break;
    default:
        break;
    }
}

/* Everybody puts right what they did, and does nothing from now on. */
void people_rest(struct sim *s)
{
    const struct rev *set = revs_find(&s->api.objects, "NodeSet", SIM_SET);

    sim_tell(s, "--- rest ---");
    s->slurm.down = false;
    for (unsigned i = 0; i < SIM_NODES; i++) {
        if (s->slurm.nodes[i].by_admin)
            admin_resume(s, i);
        cordon_pod(s, i, false);
    }
    for (unsigned i = 0; i < SIM_OPERATORS; i++)
        s->operators[i].leads = i == 0;
    if (!s->operators[0].alive) {
        operator_start(s, 0);
        s->operators[0].leads = true;
    }
    if (!set)
        make_set(s);
}
