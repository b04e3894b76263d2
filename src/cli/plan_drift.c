/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What of a cluster is not as declared, although nothing is on its way: drift.
 *
 * Of partitions the agent tells, in this moment; where it cannot be asked, the Controller's
 * condition has what it told last.  Of nodes the operator tells, in the NodeSets' conditions.
 */
#include "src/build/labels.h"
#include "src/cli/plan.h"
#include "src/wire/state.h"

static void add(struct arena *a, struct plan_cluster *c, const char *text)
{
    jsn_append(a, c->drift, jsn_string(a, text));
}

static const char *shown(const char *value)
{
    return value && value[0] ? value : "not set";
}

static const char *drift_text(struct arena *a, const struct wire_drift *d)
{
    if (!streq(d->field, "PartitionName"))
        return arena_printf(a, "partition %s: %s is %s, declared %s", d->partition, d->field,
                            shown(d->live), shown(d->declared));
    return d->live && d->live[0]
               ? arena_printf(a, "partition %s is there and not declared", d->partition)
               : arena_printf(a, "partition %s is declared and not there", d->partition);
}

static void from_agent(struct arena *a, const struct jsn *state, struct plan_cluster *c)
{
    JSN_FOR_ITEMS (item, jsn_key(state, "drift")) {
        struct wire_drift d = {0};

        if (fields_decode(a, wire_drift_fields, item, &d, NULL) == 0)
            add(a, c, drift_text(a, &d));
    }
}

static const struct jsn *condition(const struct jsn *object, const char *type)
{
    JSN_FOR_ITEMS (x, jsn_get(object, "status.conditions"))
        if (streq(jsn_get_str(x, "type"), type))
            return x;
    return NULL;
}

static bool is_of(const struct jsn *o, const struct plan_cluster *c)
{
    if (!streq(jsn_get_str(o, "metadata.namespace"), c->ns))
        return false;
    return streq(jsn_get_str(o, "kind"), "Controller")
               ? streq(jsn_get_str(o, "metadata.name"), c->name)
               : streq(jsn_get_str(o, "spec.controllerRef.name"), c->name);
}

/* Of partitions; each is told at the Controller once. */
static void from_controller(struct arena *a, const struct jsn *o, struct plan_cluster *c)
{
    const struct jsn *x = condition(o, "Drifted");

    if (streq(jsn_get_str(x, "status"), "True"))
        add(a, c, jsn_get_str(x, "message"));
}

/* What is being done about it is told as a change (plan_nodes.c). */
static void from_nodeset(struct arena *a, const struct jsn *o, struct plan_cluster *c)
{
    const struct jsn *x = condition(o, "NodesApplied");
    const char *reason = jsn_get_str(x, "reason");

    if (streq(jsn_get_str(x, "status"), "False") && !streq(reason, "Applying") &&
        !streq(reason, "WaitingForIdle"))
        add(a, c,
            arena_printf(a, "NodeSet %s: %s", jsn_get_str(o, "metadata.name"),
                         jsn_get_str(x, "message")));
}

void plan_drift(const struct plan_world *w, const struct jsn *state, struct plan_cluster *c)
{
    c->drift = jsn_array(w->a);
    if (state)
        from_agent(w->a, state, c);
    for (size_t i = 0; i < w->n_now; i++) {
        const struct jsn *o = w->now[i].object;
        const char *kind = jsn_get_str(o, "kind");

        if (streq(kind, "NodeSet") && is_of(o, c))
            from_nodeset(w->a, o, c);
        if (!streq(kind, "Controller") || !is_of(o, c))
            continue;
        if (!state)
            from_controller(w->a, o, c);
        c->reverts = streq(
            jsn_text(jsn_member(jsn_get(o, "metadata.annotations"), STR(ANNOTATION_DRIFT_POLICY))),
            "Revert");
    }
}
