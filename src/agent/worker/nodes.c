/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The list of nodes.
 *
 * slurmctld leaves holes in its table for nodes to come; they have no name and are skipped here.
 * The state is told in scontrol's words, base first ("IDLE+DRAIN"), by src/slurm.  Details
 * (resources in use by name) cost slurmctld a lot and are not asked for; the count of allocated
 * CPUs comes without.
 */
#include "src/agent/worker/call.h"
#include "src/agent/worker/release.h"
#include "src/agent/worker/users.h"
#include "src/slurm/nodestate.h"

static void reason_put(struct worker_call *c, struct jsn *item, const node_info_t *n)
{
    if (!n->reason || !n->reason[0] || !nodestate_has_reason(n->node_state))
        return;
    jsn_set_str(c->arena, item, "reason", n->reason);
    if (n->reason_uid != NO_VAL)
        jsn_set_str(c->arena, item, "reasonUser", users_name(n->reason_uid));
    call_put_time(c, item, "reasonTime", n->reason_time);
}

static void texts_put(struct worker_call *c, struct jsn *item, const node_info_t *n)
{
    call_put_text(c, item, "comment", n->comment);
    call_put_text(c, item, "extra", n->extra);
    call_put_text(c, item, "features", n->features);
    call_put_text(c, item, "activeFeatures", n->features_act);
    call_put_text(c, item, "gres", n->gres);
    call_put_text(c, item, "address", n->node_addr);
    call_put_text(c, item, "hostname", n->node_hostname);
    call_put_text(c, item, "version", n->version);
    call_put_text(c, item, "topology", release_node_topology(n));
    call_put_text(c, item, "instanceId", release_node_instance_id(n));
    call_put_text(c, item, "instanceType", release_node_instance_type(n));
}

static void node_item(struct worker_call *c, const node_info_t *n, struct jsn *items)
{
    AUTO(buf_done) struct buf state = {0};
    struct jsn *item = jsn_object(c->arena);

    nodestate_print(n->node_state, &state);
    jsn_set_str(c->arena, item, "name", n->name);
    jsn_set_str(c->arena, item, "state", buf_str(&state));
    reason_put(c, item, n);
    texts_put(c, item, n);
    call_put_time(c, item, "bootTime", n->boot_time);
    call_put_time(c, item, "slurmdStartTime", n->slurmd_start_time);
    call_put_time(c, item, "resumeAfter", release_node_resume_after(n));
    jsn_set_int(c->arena, item, "cpus", n->cpus);
    jsn_set_int(c->arena, item, "cpusAllocated", release_node_cpus_allocated(n));
    jsn_set_int(c->arena, item, "memory", (int64_t)n->real_memory);
    jsn_set_int(c->arena, item, "weight", n->weight);
    jsn_append(c->arena, items, item);
}

int call_nodes(struct worker_call *c)
{
    node_info_msg_t *msg = NULL;
    struct jsn *items;

    if (slurm_load_node(call_since(c), &msg, SHOW_ALL | SHOW_MIXED | SHOW_FUTURE) !=
        SLURM_SUCCESS) {
        if (errno == SLURM_NO_CHANGE_IN_DATA)
            return call_unchanged(c);
        return call_refused(c, errno, "the nodes cannot be listed");
    }
    items = call_items(c, msg->last_update);
    for (uint32_t i = 0; i < msg->record_count; i++)
        if (msg->node_array[i].name && msg->node_array[i].name[0] &&
            call_wants(c, msg->node_array[i].name))
            node_item(c, &msg->node_array[i], items);
    slurm_free_node_info_msg(msg);
    return 0;
}
