/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reservations: list, put (create or change), delete.
 *
 * `put` says what the reservation shall be: it is changed if it is there and created if not.  A
 * flag that is not named is cleared on one that is there, where Slurm has a bit for that.  Times
 * are seconds since 1970, the duration is minutes; without a start it starts now, which counts for
 * a new one only.
 */
#include <strings.h>

#include "src/agent/worker/call.h"
#include "src/agent/worker/release.h"
#include "src/wire/state.h"

static const struct {
    const char *word; /* as scontrol spells it */
    uint64_t set;
    uint64_t clear; /* 0: stays once it is set */
} resv_flags[] = {
    {"MAINT", RESERVE_FLAG_MAINT, RESERVE_FLAG_NO_MAINT},
    {"DAILY", RESERVE_FLAG_DAILY, RESERVE_FLAG_NO_DAILY},
    {"WEEKLY", RESERVE_FLAG_WEEKLY, RESERVE_FLAG_NO_WEEKLY},
    {"WEEKDAY", RESERVE_FLAG_WEEKDAY, RESERVE_FLAG_NO_WEEKDAY},
    {"WEEKEND", RESERVE_FLAG_WEEKEND, RESERVE_FLAG_NO_WEEKEND},
    {"HOURLY", RESERVE_FLAG_HOURLY, RESERVE_FLAG_NO_HOURLY},
    {"IGNORE_JOBS", RESERVE_FLAG_IGN_JOBS, RESERVE_FLAG_NO_IGN_JOB},
    {"ANY_NODES", RESERVE_FLAG_ANY_NODES, RESERVE_FLAG_NO_ANY_NODES},
    {"STATIC_ALLOC", RESERVE_FLAG_STATIC, RESERVE_FLAG_NO_STATIC},
    {"PART_NODES", RESERVE_FLAG_PART_NODES, RESERVE_FLAG_NO_PART_NODES},
    {"OVERLAP", RESERVE_FLAG_OVERLAP, 0},
    {"SPEC_NODES", RESERVE_FLAG_SPEC_NODES, 0},
    {"TIME_FLOAT", RESERVE_FLAG_TIME_FLOAT, 0},
    {"REPLACE", RESERVE_FLAG_REPLACE, 0},
    {"REPLACE_DOWN", RESERVE_FLAG_REPLACE_DOWN, 0},
    {"ALL_NODES", RESERVE_FLAG_ALL_NODES, 0},
    {"FLEX", RESERVE_FLAG_FLEX, RESERVE_FLAG_NO_FLEX},
    {"NO_HOLD_JOBS_AFTER_END", RESERVE_FLAG_NO_HOLD_JOBS, 0},
    {"PURGE_COMP", RESERVE_FLAG_PURGE_COMP, RESERVE_FLAG_NO_PURGE_COMP},
    {"MAGNETIC", RESERVE_FLAG_MAGNETIC, RESERVE_FLAG_NO_MAGNETIC},
};

static struct jsn_strs flags_list(struct worker_call *c, uint64_t flags)
{
    struct jsn_strs list = {arena_calloc(c->arena, ARRAY_LEN(resv_flags), sizeof(const char *)), 0};

    for (size_t i = 0; i < ARRAY_LEN(resv_flags); i++)
        if (flags & resv_flags[i].set)
            list.items[list.n++] = resv_flags[i].word;
    return list;
}

static void resv_item(struct worker_call *c, const reserve_info_t *r, struct jsn *items)
{
    struct wire_reservation v = {
        .name = r->name ? r->name : "",
        .start_time = call_time(r->start_time),
        .end_time = call_time(r->end_time),
        .flags = flags_list(c, r->flags),
        .nodes = call_said(r->node_list),
        .node_count = r->node_cnt == NO_VAL ? 0 : r->node_cnt,
        .core_count = r->core_cnt == NO_VAL ? 0 : r->core_cnt,
        .users = call_said(r->users),
        .accounts = call_said(r->accounts),
        .groups = call_said(r->groups),
        .partition = call_said(r->partition),
        .features = call_said(r->features),
        .licenses = call_said(r->licenses),
        .burst_buffer = call_said(r->burst_buffer),
        .tres = call_said(r->tres_str),
        .comment = call_said(release_resv_comment(r)),
        .qos = call_said(release_resv_qos(r)),
        .allowed_partitions = call_said(release_resv_partitions(r)),
    };

    jsn_append(c->arena, items, fields_encode(c->arena, wire_reservation_fields, &v));
}

int call_reservations(struct worker_call *c)
{
    reserve_info_msg_t *msg = NULL;
    struct jsn *items;

    if (slurm_load_reservations(call_since(c), &msg) != SLURM_SUCCESS) {
        if (errno == SLURM_NO_CHANGE_IN_DATA)
            return call_unchanged(c);
        return call_refused(c, errno, "the reservations cannot be listed");
    }
    items = call_items(c, msg->last_update);
    for (uint32_t i = 0; i < msg->record_count; i++)
        resv_item(c, &msg->reservation_array[i], items);
    slurm_free_reservation_info_msg(msg);
    return 0;
}

/* Bits of the flags that the request names. */
static int flags_wanted(struct worker_call *c, uint64_t *ret)
{
    uint64_t bits = 0;

    JSN_FOR_ITEMS (item, jsn_key(c->request, "flags")) {
        const char *word = jsn_text(item);
        size_t i = 0;

        while (word && i < ARRAY_LEN(resv_flags) && strcasecmp(word, resv_flags[i].word) != 0)
            i++;
        if (!word || i == ARRAY_LEN(resv_flags))
            return call_invalid(c, "'%s' is no flag of a reservation", word ? word : "");
        bits |= resv_flags[i].set;
    }
    *ret = bits;
    return 0;
}

static uint64_t flags_to_clear(uint64_t wanted)
{
    uint64_t bits = 0;

    for (size_t i = 0; i < ARRAY_LEN(resv_flags); i++)
        if (!(wanted & resv_flags[i].set))
            bits |= resv_flags[i].clear;
    return bits;
}

/* Of reservations one code means a user who does not exist, and not that we may not. */
static int resv_refused(struct worker_call *c, int code, const char *name, const char *what)
{
    int r = call_refused(c, code, "reservation '%s' cannot be %s", name, what);

    if (code == ESLURM_USER_ID_MISSING)
        jsn_set_path(c->arena, c->answer, "error.kind", jsn_string(c->arena, "refused"));
    return r;
}

static int later_set(struct worker_call *c, resv_desc_msg_t *m)
{
    const struct {
        const char *key;
        bool (*set)(resv_desc_msg_t *m, char *text);
    } later[] = {
        {"comment", release_resv_set_comment},
        {"qos", release_resv_set_qos},
        {"allowedPartitions", release_resv_set_partitions},
    };

    for (size_t i = 0; i < ARRAY_LEN(later); i++) {
        char *text = call_text(c, later[i].key);

        if (text && !later[i].set(m, text))
            return call_invalid(c, "'%s': this release of Slurm does not have it", later[i].key);
    }
    return 0;
}

static void times_set(struct worker_call *c, resv_desc_msg_t *m)
{
    int64_t start = jsn_get_int(c->request, "startTime", 0);
    int64_t end = jsn_get_int(c->request, "endTime", 0);
    int64_t duration = jsn_get_int(c->request, "duration", -1);

    if (start > 0)
        m->start_time = (time_t)start;
    if (end > 0)
        m->end_time = (time_t)end;
    if (duration >= 0)
        m->duration = duration < (int64_t)NO_VAL ? (uint32_t)duration : INFINITE;
}

static int message_fill(struct worker_call *c, const char *name, struct release_counts *counts,
                        resv_desc_msg_t *ret)
{
    int64_t nodes = jsn_get_int(c->request, "nodeCount", 0);
    int64_t cores = jsn_get_int(c->request, "coreCount", 0);

    slurm_init_resv_desc_msg(ret);
    ret->name = arena_strdup(c->arena, name);
    ret->node_list = call_text(c, "nodes");
    ret->users = call_text(c, "users");
    ret->accounts = call_text(c, "accounts");
    ret->groups = call_text(c, "groups");
    ret->partition = call_text(c, "partition");
    ret->features = call_text(c, "features");
    ret->licenses = call_text(c, "licenses");
    ret->burst_buffer = call_text(c, "burstBuffer");
    ret->tres_str = call_text(c, "tres");
    times_set(c, ret);
    if (nodes > 0 && nodes < (int64_t)NO_VAL)
        release_resv_set_nodes(ret, counts, (uint32_t)nodes);
    if (cores > 0 && cores < (int64_t)NO_VAL)
        release_resv_set_cores(ret, counts, (uint32_t)cores);
    return later_set(c, ret);
}

static int resv_create(struct worker_call *c, const char *name, uint64_t wanted,
                       resv_desc_msg_t *message)
{
    int code;

    message->flags = wanted;
    if (message->start_time == (time_t)NO_VAL)
        message->start_time = time(NULL);
    code = release_resv_create(message);
    if (code)
        return resv_refused(c, code, name, "created");
    jsn_set_bool(c->arena, c->answer, "created", true);
    return 0;
}

int call_reservation_put(struct worker_call *c)
{
    const char *name = call_need(c, "name");
    struct release_counts counts;
    resv_desc_msg_t message;
    uint64_t wanted = 0;

    if (!name || call_check_texts(c) < 0 || flags_wanted(c, &wanted) < 0 ||
        message_fill(c, name, &counts, &message) < 0)
        return -1;
    message.flags = jsn_key(c->request, "flags") ? wanted | flags_to_clear(wanted) : NO_VAL64;
    if (slurm_update_reservation(&message) == SLURM_SUCCESS)
        return 0;
    if (errno != ESLURM_RESERVATION_INVALID)
        return resv_refused(c, errno, name, "changed");
    return resv_create(c, name, wanted, &message);
}

int call_reservation_delete(struct worker_call *c)
{
    const char *name = call_need(c, "name");
    reservation_name_msg_t message;

    if (!name)
        return -1;
    message.name = arena_strdup(c->arena, name);
    if (slurm_delete_reservation(&message) != SLURM_SUCCESS) {
        if (errno != ESLURM_RESERVATION_INVALID)
            return resv_refused(c, errno, name, "deleted");
        jsn_set_bool(c->arena, c->answer, "gone", true);
    }
    return 0;
}
