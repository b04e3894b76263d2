/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rows of autoscalers.  TARGETS has what was measured and what is wanted of the first two
 * metrics, "cpu: 12%/80%", and how many more there are.
 */
#include "src/cluster/apiserver/printers/cells.h"

#define SHOWN 2

/* The member that a metric's type names: "Resource" -> "resource". */
static const struct jsn *source_of(const struct jsn *metric)
{
    static const char *const members[] = {"resource", "containerResource", "pods", "object",
                                          "external"};

    for (size_t i = 0; i < ARRAY_LEN(members); i++)
        if (jsn_key(metric, members[i]))
            return jsn_key(metric, members[i]);
    return NULL;
}

static const char *name_of(const struct jsn *source)
{
    const char *name = cells_text(source, "name");

    return name[0] != '\0' ? name : cells_text(source, "metric.name");
}

/* A share, an average or a value, whichever is there. */
static const char *amount(struct arena *a, const struct jsn *v)
{
    const struct jsn *share = jsn_key(v, "averageUtilization");
    const char *average = cells_text(v, "averageValue");
    const char *value = cells_text(v, "value");

    if (jsn_is(share, JSN_INT))
        return arena_printf(a, "%lld%%", (long long)share->i);
    if (average[0] != '\0')
        return average;
    return value[0] != '\0' ? value : NULL;
}

static void add_metric(struct cells *c, struct buf *b, const struct jsn *spec,
                       const struct jsn *status)
{
    const struct jsn *source = source_of(spec);
    const struct jsn *target = jsn_key(source, "target");
    const char *current = amount(c->arena, jsn_key(source_of(status), "current"));
    const char *wanted = amount(c->arena, target);
    bool plain = !jsn_key(spec, "pods") && !jsn_key(spec, "object") && !jsn_key(spec, "external");

    if (plain)
        buf_printf(b, "%s: ", name_of(source));
    buf_printf(b, "%s/%s", current ? current : "<unknown>", wanted ? wanted : "<auto>");
    if (jsn_key(target, "averageValue") && !plain && !jsn_key(spec, "pods"))
        buf_adds(b, " (avg)");
}

static void cell_targets(struct cells *c)
{
    AUTO(buf_done) struct buf b = {0};
    const struct jsn *metrics = jsn_get(c->object, "spec.metrics");
    const struct jsn *measured = jsn_get(c->object, "status.currentMetrics");
    size_t n = jsn_len(metrics);

    for (size_t i = 0; i < n && i < SHOWN; i++) {
        buf_adds(&b, i ? ", " : "");
        add_metric(c, &b, jsn_item(metrics, i), jsn_item(measured, i));
    }
    if (n > SHOWN)
        buf_printf(&b, " + %zu more...", n - SHOWN);
    cell_text(c, n ? buf_str(&b) : "<none>");
}

static void print_autoscaler(struct cells *c)
{
    const struct jsn *min = jsn_get(c->object, "spec.minReplicas");

    cell_name(c);
    cell_textf(c, "%s/%s", cells_text(c->object, "spec.scaleTargetRef.kind"),
               cells_text(c->object, "spec.scaleTargetRef.name"));
    cell_targets(c);
    if (jsn_is(min, JSN_INT))
        cell_textf(c, "%lld", (long long)min->i);
    else
        cell_text(c, "<unset>");
    cell_int_at(c, "spec.maxReplicas", 0);
    cell_int_at(c, "status.currentReplicas", 0);
    cell_age(c);
}

static const struct printer_column columns[] = {
    COLUMN_NAME,
    {"Reference", "string", "", "What is scaled.", 0},
    {"Targets", "string", "", "What was measured, and what it should be.", 0},
    {"MinPods", "string", "", "Never fewer than these.", 0},
    {"MaxPods", "string", "", "Never more than these.", 0},
    {"Replicas", "string", "", "How many there are.", 0},
    COLUMN_AGE,
};

const struct printer printer_autoscalers = {
    .resource = "horizontalpodautoscalers.autoscaling",
    .columns = columns,
    .n_columns = ARRAY_LEN(columns),
    .print = print_autoscaler,
};
