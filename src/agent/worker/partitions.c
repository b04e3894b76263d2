/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The partition calls: list, create, update, delete.
 *
 * An update is one message with just the keys that were given, and one RPC; slurmctld rebuilds its
 * scheduling state at every one of them.  A new partition differs in one point from one that a file
 * makes: by RPC MinNodes starts at 1, in the file at 0; the file's default is what is meant.
 *
 * slurmctld applies an update field by field and stops at the first bad one, so that a refusal does
 * not mean that nothing has changed; and on 22.05 and 23.02 a create with a bad node leaves an
 * empty partition behind.  That one is deleted again here, the rest is for the caller to read back.
 *
 * A slurmctld that has started again counts all of its partitions as changed.  So a list that was
 * asked for by time and has changed also tells when the slurmctld that it comes from was started:
 * somebody who asks once a second would not see a restart that takes less.
 */
#include "src/agent/worker/call.h"
#include "src/agent/worker/partition_map.h"
#include "src/agent/worker/release.h"
#include "src/wire/state.h"

static void partition_item(struct worker_call *c, const partition_info_t *info, struct jsn *items)
{
    struct wire_partition p = {
        .name = info->name ? info->name : "",
        .config = partmap_config(c->arena, info),
        .nodes = call_said(info->nodes),
        .nodesets = call_said(info->nodesets),
        .total_nodes = info->total_nodes,
        .total_cpus = info->total_cpus,
        .tres = call_said(info->tres_fmt_str),
    };

    jsn_append(c->arena, items, fields_encode(c->arena, wire_partition_fields, &p));
}

int call_partitions(struct worker_call *c)
{
    partition_info_msg_t *msg = NULL;
    struct jsn *items;

    if (slurm_load_partitions(call_since(c), &msg, SHOW_ALL) != SLURM_SUCCESS) {
        if (errno == SLURM_NO_CHANGE_IN_DATA)
            return call_unchanged(c);
        return call_refused(c, errno, "the partitions cannot be listed");
    }
    items = call_items(c, msg->last_update);
    if (call_since(c) > 0)
        call_put_boot_time(c);
    for (uint32_t i = 0; i < msg->record_count; i++)
        if (call_wants(c, msg->partition_array[i].name))
            partition_item(c, &msg->partition_array[i], items);
    slurm_free_partition_info_msg(msg);
    return 0;
}

static const partition_info_t *partition_find(const partition_info_msg_t *msg, const char *name)
{
    for (uint32_t i = 0; i < msg->record_count; i++)
        if (streq(msg->partition_array[i].name, name))
            return &msg->partition_array[i];
    return NULL;
}

/* Fill the message; the live partition is asked for only where a key needs it. */
static int message_fill(struct worker_call *c, char *name, bool exists, update_part_msg_t *ret)
{
    const struct jsn *set = jsn_key(c->request, "set");
    partition_info_msg_t *live = NULL;
    struct err e = {0};
    int r;

    slurm_init_part_desc_msg(ret);
    ret->name = name;
    if (exists && partmap_needs_live(set) &&
        slurm_load_partitions(0, &live, SHOW_ALL) != SLURM_SUCCESS)
        return call_refused(c, errno, "partition '%s' cannot be read", name);
    r = partmap_write(c->arena, set, live ? partition_find(live, name) : NULL, ret, &e);
    if (live)
        slurm_free_partition_info_msg(live);
    return r < 0 ? call_invalid(c, "partition '%s': %s", name, e.text) : 0;
}

static bool partition_exists(const char *name)
{
    partition_info_msg_t *live = NULL;
    bool found;

    if (slurm_load_partitions(0, &live, SHOW_ALL) != SLURM_SUCCESS)
        return true;
    found = partition_find(live, name) != NULL;
    slurm_free_partition_info_msg(live);
    return found;
}

/* A create was refused: take away what it left, unless the partition was there before. */
static void half_made_drop(char *name, int code)
{
    delete_part_msg_t message = {.name = name};

    if (code != ESLURM_INVALID_PARTITION_NAME && partition_exists(name))
        (void)slurm_delete_partition(&message);
}

int call_partition_create(struct worker_call *c)
{
    const char *name = call_need(c, "name");
    update_part_msg_t message;
    char *copy;

    if (!name)
        return -1;
    copy = arena_strdup(c->arena, name);
    if (message_fill(c, copy, false, &message) < 0)
        return -1;
    if (message.min_nodes == NO_VAL)
        message.min_nodes = 0;
    if (slurm_create_partition(&message) != SLURM_SUCCESS) {
        int code = errno;

        if (streq(call_code_kind(code), "refused"))
            half_made_drop(copy, code);
        return call_refused(c, code, "partition '%s' cannot be created", name);
    }
    return 0;
}

int call_partition_update(struct worker_call *c)
{
    const char *name = call_need(c, "name");
    update_part_msg_t message;

    if (!name || message_fill(c, arena_strdup(c->arena, name), true, &message) < 0)
        return -1;
    if (slurm_update_partition(&message) != SLURM_SUCCESS)
        return call_refused(c, errno, "partition '%s' cannot be changed", name);
    return 0;
}

int call_partition_delete(struct worker_call *c)
{
    const char *name = call_need(c, "name");
    delete_part_msg_t message;

    if (!name)
        return -1;
    message.name = arena_strdup(c->arena, name);
    if (slurm_delete_partition(&message) != SLURM_SUCCESS) {
        if (errno == ESLURM_INVALID_PARTITION_NAME) {
            jsn_set_bool(c->arena, c->answer, "gone", true);
            return 0;
        }
        return call_refused(c, errno, "partition '%s' cannot be deleted", name);
    }
    return 0;
}
