/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Node states.
 *
 * Slurm keeps a node's state in one word: a base state in the low bits and flags above it.  Here
 * are the names that scontrol prints, the way back from names, and the one judgement on which every
 * deletion hangs: may a job be running there?  Whatever is not known, new or strange is busy.
 */
#include "src/slurm/nodestate.h"

#include <ctype.h>

static const char *const base_names[] = {
    [NODE_BASE_UNKNOWN] = "UNKNOWN",     [NODE_BASE_DOWN] = "DOWN",   [NODE_BASE_IDLE] = "IDLE",
    [NODE_BASE_ALLOCATED] = "ALLOCATED", [NODE_BASE_ERROR] = "ERROR", [NODE_BASE_MIXED] = "MIXED",
    [NODE_BASE_FUTURE] = "FUTURE",
};
_Static_assert(ARRAY_LEN(base_names) == NODE_N_BASES, "a base state has no name");

/* In the order in which scontrol prints them; those after the blank line are printed by none. */
static const struct {
    uint32_t flag;
    const char *name;
} flag_names[] = {
    {NODE_FLAG_BLOCKED, "BLOCKED"},
    {NODE_FLAG_CLOUD, "CLOUD"},
    {NODE_FLAG_COMPLETING, "COMPLETING"},
    {NODE_FLAG_DRAIN, "DRAIN"},
    {NODE_FLAG_DYNAMIC_FUTURE, "DYNAMIC_FUTURE"},
    {NODE_FLAG_DYNAMIC, "DYNAMIC_NORM"},
    {NODE_FLAG_EXTERNAL, "EXTERNAL"},
    {NODE_FLAG_INVALID_REG, "INVALID_REG"},
    {NODE_FLAG_FAIL, "FAIL"},
    {NODE_FLAG_MAINT, "MAINTENANCE"},
    {NODE_FLAG_POWER_DOWN, "POWER_DOWN"},
    {NODE_FLAG_POWER_UP, "POWER_UP"},
    {NODE_FLAG_POWERED_DOWN, "POWERED_DOWN"},
    {NODE_FLAG_REBOOT_REQUESTED, "REBOOT_REQUESTED"},
    {NODE_FLAG_REBOOT_ISSUED, "REBOOT_ISSUED"},
    {NODE_FLAG_RESERVED, "RESERVED"},
    {NODE_FLAG_RESUME, "RESUME"},
    {NODE_FLAG_NO_RESPOND, "NOT_RESPONDING"},
    {NODE_FLAG_PLANNED, "PLANNED"},
    {NODE_FLAG_POWERING_UP, "POWERING_UP"},
    {NODE_FLAG_POWERING_DOWN, "POWERING_DOWN"},

    {NODE_FLAG_UNDRAIN, "UNDRAIN"},
    {NODE_FLAG_REBOOT_CANCEL, "REBOOT_CANCELED"},
    {NODE_FLAG_POWER_DRAIN, "POWER_DRAIN"},
};

/* "IDLE"; "INVALID" for a number that no release has. */
static const char *nodestate_base_name(uint32_t state)
{
    unsigned base = nodestate_base(state);

    return base < NODE_N_BASES ? base_names[base] : "INVALID";
}

void nodestate_print(uint32_t state, struct buf *out)
{
    buf_adds(out, nodestate_base_name(state));
    for (size_t i = 0; i < ARRAY_LEN(flag_names); i++)
        if (state & flag_names[i].flag)
            buf_printf(out, "+%s", flag_names[i].name);
}

static bool occupied(uint32_t state)
{
    unsigned base = nodestate_base(state);

    return (state & NODE_FLAG_COMPLETING) || base == NODE_BASE_ALLOCATED || base == NODE_BASE_MIXED;
}

/* One word to its bits; the base state's word sets *is_base. */
static bool word_bits(struct str word, uint32_t *bits, bool *is_base)
{
    for (unsigned i = 0; i < NODE_N_BASES; i++)
        if (str_eq_nocase(word, str_of(base_names[i]))) {
            *bits = i;
            *is_base = true;
            return true;
        }
    *is_base = false;
    for (size_t i = 0; i < ARRAY_LEN(flag_names); i++)
        if (str_eq_nocase(word, str_of(flag_names[i].name))) {
            *bits = flag_names[i].flag;
            return true;
        }
    return false;
}

int nodestate_parse(struct str text, uint32_t *ret_state, struct err *e)
{
    uint32_t state = 0;
    bool have_base = false;
    size_t i = 0;

    while (i < text.n) {
        struct str word = {text.p + i, 0};
        uint32_t bits = 0;
        bool is_base;

        while (i < text.n && (isalpha((unsigned char)text.p[i]) || text.p[i] == '_'))
            i++;
        word.n = (size_t)(text.p + i - word.p);
        if (!word_bits(word, &bits, &is_base) || (is_base && have_base))
            return err_bad(e, "'%.*s' is not a node state", (int)MIN(text.n, (size_t)100), text.p);
        have_base = have_base || is_base;
        state |= bits;
        if (i < text.n && text.p[i] != '+' && text.p[i] != ',' && text.p[i] != ' ')
            return err_bad(e, "'%.*s' is not a node state", (int)MIN(text.n, (size_t)100), text.p);
        i++;
    }
    if (!have_base)
        return err_bad(e, "'%.*s' has no base state such as IDLE", (int)MIN(text.n, (size_t)100),
                       text.n ? text.p : "");
    *ret_state = state;
    return 0;
}

bool nodestate_busy(const struct node_view *node)
{
    if (!node->state_known || !node->jobs_known || node->jobs > 0)
        return true;
    if (node->state & NODE_FLAG_COMPLETING)
        return true;
    switch (nodestate_base(node->state)) {
    case NODE_BASE_IDLE:
    case NODE_BASE_DOWN:
    case NODE_BASE_FUTURE:
        return false;
    default:
        return true;
    }
}

bool nodestate_has_reason(uint32_t state)
{
    return nodestate_base(state) == NODE_BASE_DOWN ||
           (state & (NODE_FLAG_DRAIN | NODE_FLAG_FAIL | NODE_FLAG_REBOOT_REQUESTED |
                     NODE_FLAG_REBOOT_ISSUED));
}

bool nodestate_drained(uint32_t state)
{
    unsigned base = nodestate_base(state);

    return (state & NODE_FLAG_DRAIN) && !(state & NODE_FLAG_UNDRAIN) && !occupied(state) &&
           (base == NODE_BASE_IDLE || base == NODE_BASE_DOWN);
}
