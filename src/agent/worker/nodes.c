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
#include "src/wire/state.h"

static void reason_take(const node_info_t *n, struct wire_node *to)
{
    to->reason = call_said(n->reason);
    if (!to->reason || !nodestate_has_reason(n->node_state)) {
        to->reason = NULL;
        return;
    }
    if (n->reason_uid != NO_VAL)
        to->reason_user = users_name(n->reason_uid);
    to->reason_time = call_time(n->reason_time);
}

/* What the node is; the operator holds it against what was declared. */
static void hardware_take(const node_info_t *n, struct wire_node *to)
{
    to->cpus = n->cpus;
    to->boards = n->boards;
    to->sockets = n->sockets;
    to->cores = n->cores;
    to->threads = n->threads;
    to->memory = (int64_t)n->real_memory;
    to->tmp_disk = n->tmp_disk;
    to->mem_spec = (int64_t)n->mem_spec_limit;
    to->core_spec = n->core_spec_cnt;
}

static void node_item(struct worker_call *c, const node_info_t *n, struct jsn *items)
{
    AUTO(buf_done) struct buf state = {0};
    struct wire_node node;

    nodestate_print(n->node_state, &state);
    node = (struct wire_node){
        .name = n->name,
        .state = buf_str(&state),
        .comment = call_said(n->comment),
        .extra = call_said(n->extra),
        .features = call_said(n->features),
        .active_features = call_said(n->features_act),
        .gres = call_said(n->gres),
        .address = call_said(n->node_addr),
        .hostname = call_said(n->node_hostname),
        .version = call_said(n->version),
        .topology = call_said(release_node_topology(n)),
        .instance_id = call_said(release_node_instance_id(n)),
        .instance_type = call_said(release_node_instance_type(n)),
        .boot_time = call_time(n->boot_time),
        .slurmd_start_time = call_time(n->slurmd_start_time),
        .resume_after = call_time(release_node_resume_after(n)),
        .cpus_allocated = release_node_cpus_allocated(n),
        .weight = n->weight,
    };
    reason_take(n, &node);
    hardware_take(n, &node);
    jsn_append(c->arena, items, fields_encode(c->arena, wire_node_fields, &node));
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
