/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Slurm's view of a node among the conditions of its pod, by Slinky's names, so that tools which
 * wait for them work.  Those that no longer hold are removed, not set to False.
 *
 * A pod keeps them as bits and one message: they are written together and differ together.
 */
#include "src/plan/pod_conditions.h"

#include "src/base/clock.h"

#define PREFIX "SlurmNodeState"

enum bit {
    BIT_ALLOCATED,
    BIT_DOWN,
    BIT_ERROR,
    BIT_FUTURE,
    BIT_IDLE,
    BIT_MIXED,
    BIT_UNKNOWN,
    BIT_COMPLETING,
    BIT_DRAIN,
    BIT_FAIL,
    BIT_INVALID,
    BIT_INVALID_REG,
    BIT_MAINTENANCE,
    BIT_NOT_RESPONDING,
    BIT_UNDRAIN,
    N_BITS,
};

static const char *const names[N_BITS] = {
    "Allocated", "Down",       "Error",       "Future",        "Idle",
    "Mixed",     "Unknown",    "Completing",  "Drain",         "Fail",
    "Invalid",   "InvalidReg", "Maintenance", "NotResponding", "Undrain",
};

static uint32_t bits_of(const struct slurm_node *n)
{
    static const unsigned bases[NODE_N_BASES] = {
        [NODE_BASE_UNKNOWN] = BIT_UNKNOWN, [NODE_BASE_DOWN] = BIT_DOWN,
        [NODE_BASE_IDLE] = BIT_IDLE,       [NODE_BASE_ALLOCATED] = BIT_ALLOCATED,
        [NODE_BASE_ERROR] = BIT_ERROR,     [NODE_BASE_MIXED] = BIT_MIXED,
        [NODE_BASE_FUTURE] = BIT_FUTURE,
    };
    static const struct {
        uint32_t flag;
        unsigned bit;
    } flags[] = {
        {NODE_FLAG_COMPLETING, BIT_COMPLETING},
        {NODE_FLAG_DRAIN, BIT_DRAIN},
        {NODE_FLAG_FAIL, BIT_FAIL},
        {NODE_FLAG_INVALID_REG, BIT_INVALID_REG},
        {NODE_FLAG_MAINT, BIT_MAINTENANCE},
        {NODE_FLAG_NO_RESPOND, BIT_NOT_RESPONDING},
        {NODE_FLAG_UNDRAIN, BIT_UNDRAIN},
    };
    uint32_t bits;

    if (!n)
        return 0;
    bits = 1U << (nodestate_base(n->state) < NODE_N_BASES ? bases[nodestate_base(n->state)]
                                                          : BIT_INVALID);
    for (size_t i = 0; i < ARRAY_LEN(flags); i++)
        if (n->state & flags[i].flag)
            bits |= 1U << flags[i].bit;
    return bits;
}

uint32_t pod_conditions_read(struct arena *a, const struct jsn *list, const char **ret_message)
{
    uint32_t bits = 0;

    *ret_message = NULL;
    JSN_FOR_ITEMS (c, list) {
        const char *type = jsn_get_str(c, "type");
        const char *message = jsn_get_str(c, "message");

        if (!type || !starts_with(type, PREFIX))
            continue;
        for (size_t i = 0; i < N_BITS; i++)
            if (streq(type + strlen(PREFIX), names[i]))
                bits |= 1U << i;
        if (message && message[0])
            *ret_message = arena_strdup(a, message);
    }
    return bits;
}

static struct jsn *make(struct arena *a, unsigned bit, const char *message, const char *now)
{
    struct jsn *c = jsn_object(a);

    jsn_set(a, c, "type", jsn_stringf(a, PREFIX "%s", names[bit]));
    jsn_set_str(a, c, "status", "True");
    jsn_set_str(a, c, "lastTransitionTime", now);
    jsn_set_str(a, c, "message", message);
    return c;
}

static struct jsn *make_removal(struct arena *a, unsigned bit)
{
    struct jsn *c = jsn_object(a);

    jsn_set(a, c, "type", jsn_stringf(a, PREFIX "%s", names[bit]));
    jsn_set_str(a, c, "$patch", "delete");
    return c;
}

void pod_conditions_plan(struct actions *to, const struct plan_pod *p, const struct slurm_node *n,
                         int64_t now_us)
{
    struct arena *a = to->arena;
    const char *message = n && n->reason ? n->reason : "";
    const char *had = p->slurm_message ? p->slurm_message : "";
    uint32_t want = bits_of(n);
    struct jsn *list = jsn_array(a);
    struct jsn *body = jsn_object(a);
    char now[CLOCK_RFC3339_LEN];
    struct action *action;

    if (p->slurm_bits == want && streq(message, had))
        return;
    clock_rfc3339(now_us, now);
    for (unsigned i = 0; i < N_BITS; i++) {
        uint32_t bit = 1U << i;

        if ((want & bit) && (!(p->slurm_bits & bit) || !streq(message, had)))
            jsn_append(a, list, make(a, i, message, now));
        else if (!(want & bit) && (p->slurm_bits & bit))
            jsn_append(a, list, make_removal(a, i));
    }
    if (jsn_len(list) == 0)
        return;
    jsn_set_path(a, body, "status.conditions", list);
    action = actions_add(to, ACTION_STATUS);
    action->kind = plan_kind_find("Pod");
    action->namespace = p->namespace;
    action->name = p->name;
    action->strategic = true;
    action->body = body;
}
