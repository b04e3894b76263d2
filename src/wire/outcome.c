/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Outcomes, as a table.
 *
 * The answer to a push and the state's "config" have the same form, so that whoever pushed takes
 * both in the same way: the second one brings what the first one would have, had it got through.
 */
#include "src/wire/outcome.h"

#include "src/wire/version.h"

static const char *const results[] = {
    [WIRE_APPLIED] = "applied", [WIRE_UNCHANGED] = "unchanged", [WIRE_PENDING] = "pending",
    [WIRE_PLAN] = "plan",       [WIRE_REFUSED] = "refused",     [WIRE_N_RESULTS] = NULL,
};
static const char *const classes[] = {"none", "rpc", "reconfigure", "restart", NULL};

const char *wire_result_name(enum wire_result r)
{
    return results[r];
}

static int check_class(const void *value, struct err *e)
{
    const char *text = *(const char *const *)value;

    for (size_t i = 0; text && classes[i]; i++)
        if (streq(text, classes[i]))
            return 0;
    return text ? err_bad(e, "'%s' is no class of changes that is known here", text) : 0;
}

static const struct jsn_field step_fields[] = {
    {"step", JSN_STR, offsetof(struct wire_step, step), JSN_REQ},
    {"what", JSN_STR, offsetof(struct wire_step, what), 0},
    {"ms", JSN_DOUBLE, offsetof(struct wire_step, ms), 0},
    JSN_END,
};

static const struct jsn_field change_fields[] = {
    {"change", JSN_STR, offsetof(struct wire_change, change), JSN_REQ},
    {"class", JSN_STR, offsetof(struct wire_change, class), 0, .check = check_class},
    {"why", JSN_STR, offsetof(struct wire_change, why), 0},
    JSN_END,
};

static const struct jsn_field refusal_fields[] = {
    {"partition", JSN_STR, offsetof(struct wire_refusal, partition), JSN_REQ},
    {"error", JSN_STR, offsetof(struct wire_refusal, error), 0},
    JSN_END,
};

#define AT(member) offsetof(struct wire_outcome, member)

const struct jsn_field wire_outcome_fields[] = {
    {WIRE_KEY, JSN_I64, AT(wire), 0},
    {"result", JSN_ENUM, AT(result), 0, .names = results},
    {"class", JSN_STR, AT(class), 0, .check = check_class},
    {"declared", JSN_STR, AT(declared), 0},
    {"hash", JSN_STR, AT(hash), 0},
    {"generation", JSN_I64, AT(generation), JSN_KEEP},
    {"reason", JSN_STR, AT(reason), 0},
    {"error", JSN_STR, AT(error), 0},
    {"step", JSN_STR, AT(step), 0},
    {"retry", JSN_FLAG, AT(retry), 0},
    {"ended", JSN_FLAG, AT(ended), 0},
    {"problems", JSN_SUBS, AT(problems), JSN_KEEP, .sub = wire_problem_fields,
     .size = sizeof(struct wire_problem)},
    {"steps", JSN_SUBS, AT(steps), JSN_KEEP, .sub = step_fields, .size = sizeof(struct wire_step)},
    {"changes", JSN_SUBS, AT(changes), 0, .sub = change_fields, .size = sizeof(struct wire_change)},
    {"waiting", JSN_RAW, AT(waiting), JSN_ANY},
    {"refused", JSN_SUBS, AT(refused), 0, .sub = refusal_fields,
     .size = sizeof(struct wire_refusal)},
    {"appliedAt", JSN_TIME, AT(applied_us), 0},
    {"good.declared", JSN_STR, AT(good), 0},
    JSN_END,
};

int wire_outcome_decode(struct arena *a, const struct jsn *v, struct wire_outcome *ret,
                        struct err *e)
{
    struct wire_outcome o = {.result = -1};
    int r = wire_version_check(v, "agent", "operator", e);

    if (r == 0)
        r = fields_decode(a, wire_outcome_fields, v, &o, e);
    if (r == 0)
        *ret = o;
    return r;
}

struct jsn *wire_outcome_encode(struct arena *a, const struct wire_outcome *o)
{
    struct wire_outcome copy = *o;

    copy.wire = WIRE_VERSION;
    return fields_encode(a, wire_outcome_fields, &copy);
}
