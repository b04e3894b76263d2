/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rows of deployments, stateful sets, daemon sets, replica sets and their revisions.
 *
 * READY is "ready/wanted" for the kinds that roll out, and three counts for the older ones.  The
 * wide columns (containers, images, selector) come from the template; a selector that is empty
 * shows as
 * "<none>", except for deployments, where Kubernetes shows nothing.
 */
#include "src/cluster/apiserver/kinds/labelselector.h"
#include "src/cluster/apiserver/printers/cells.h"

static void cell_template(struct cells *c)
{
    cell_containers(c, jsn_get(c->object, "spec.template.spec.containers"));
}

static void cell_ready(struct cells *c)
{
    cell_textf(c, "%lld/%lld", (long long)jsn_get_int(c->object, "status.readyReplicas", 0),
               (long long)jsn_get_int(c->object, "spec.replicas", 0));
}

static void print_deployment(struct cells *c)
{
    cell_name(c);
    cell_ready(c);
    cell_int_at(c, "status.updatedReplicas", 0);
    cell_int_at(c, "status.availableReplicas", 0);
    cell_age(c);
    cell_template(c);
    cell_text(c, labelselector_text(c->arena, jsn_get(c->object, "spec.selector")));
}

static const struct printer_column deployment_columns[] = {
    COLUMN_NAME,
    {"Ready", "string", "", "How many pods are ready, of how many.", 0},
    {"Up-to-date", "string", "", "How many pods have the current template.", 0},
    {"Available", "string", "", "How many pods have been ready for long enough.", 0},
    COLUMN_AGE,
    COLUMN_CONTAINERS,
    COLUMN_SELECTOR,
};

const struct printer printer_deployments = {
    .resource = "deployments.apps",
    .columns = deployment_columns,
    .n_columns = ARRAY_LEN(deployment_columns),
    .print = print_deployment,
};

static void print_statefulset(struct cells *c)
{
    cell_name(c);
    cell_ready(c);
    cell_age(c);
    cell_template(c);
}

static const struct printer_column statefulset_columns[] = {
    COLUMN_NAME,
    {"Ready", "string", "", "How many pods are ready, of how many.", 0},
    COLUMN_AGE,
    COLUMN_CONTAINERS,
};

const struct printer printer_statefulsets = {
    .resource = "statefulsets.apps",
    .columns = statefulset_columns,
    .n_columns = ARRAY_LEN(statefulset_columns),
    .print = print_statefulset,
};

static void print_counts(struct cells *c)
{
    cell_name(c);
    cell_int_at(c, "spec.replicas", 0);
    cell_int_at(c, "status.replicas", 0);
    cell_int_at(c, "status.readyReplicas", 0);
    cell_age(c);
    cell_template(c);
}

static void print_replicaset(struct cells *c)
{
    print_counts(c);
    cell_selector(c, jsn_get(c->object, "spec.selector"));
}

static void print_controller(struct cells *c)
{
    print_counts(c);
    cell_labels(c, jsn_get(c->object, "spec.selector"));
}

static const struct printer_column replicaset_columns[] = {
    COLUMN_NAME,
    {"Desired", "integer", "", "How many pods there should be.", 0},
    {"Current", "integer", "", "How many pods there are.", 0},
    {"Ready", "integer", "", "How many pods are ready.", 0},
    COLUMN_AGE,
    COLUMN_CONTAINERS,
    COLUMN_SELECTOR,
};

const struct printer printer_replicasets = {
    .resource = "replicasets.apps",
    .columns = replicaset_columns,
    .n_columns = ARRAY_LEN(replicaset_columns),
    .print = print_replicaset,
};

const struct printer printer_replicationcontrollers = {
    .resource = "replicationcontrollers",
    .columns = replicaset_columns,
    .n_columns = ARRAY_LEN(replicaset_columns),
    .print = print_controller,
};

static void print_daemonset(struct cells *c)
{
    cell_name(c);
    cell_int_at(c, "status.desiredNumberScheduled", 0);
    cell_int_at(c, "status.currentNumberScheduled", 0);
    cell_int_at(c, "status.numberReady", 0);
    cell_int_at(c, "status.updatedNumberScheduled", 0);
    cell_int_at(c, "status.numberAvailable", 0);
    cell_labels(c, jsn_get(c->object, "spec.template.spec.nodeSelector"));
    cell_age(c);
    cell_template(c);
    cell_selector(c, jsn_get(c->object, "spec.selector"));
}

static const struct printer_column daemonset_columns[] = {
    COLUMN_NAME,
    {"Desired", "integer", "", "How many nodes should run its pod.", 0},
    {"Current", "integer", "", "How many nodes run its pod.", 0},
    {"Ready", "integer", "", "How many of these pods are ready.", 0},
    {"Up-to-date", "integer", "", "How many of these pods have the current template.", 0},
    {"Available", "integer", "", "How many of these pods have been ready for long enough.", 0},
    {"Node Selector", "string", "", "Labels of the nodes that run its pod.", 0},
    COLUMN_AGE,
    COLUMN_CONTAINERS,
    COLUMN_SELECTOR,
};

const struct printer printer_daemonsets = {
    .resource = "daemonsets.apps",
    .columns = daemonset_columns,
    .n_columns = ARRAY_LEN(daemonset_columns),
    .print = print_daemonset,
};

/* "statefulset.apps/web" for the owner that is in control, "<none>" without one. */
static void cell_controller(struct cells *c)
{
    JSN_FOR_ITEMS (owner, jsn_get(c->object, "metadata.ownerReferences")) {
        const char *version = cells_text(owner, "apiVersion");
        const char *slash = strchr(version, '/');
        char *kind = arena_strdup(c->arena, cells_text(owner, "kind"));

        if (!jsn_get_bool(owner, "controller", false))
            continue;
        for (char *p = kind; *p != '\0'; p++)
            if (*p >= 'A' && *p <= 'Z')
                *p = (char)(*p - 'A' + 'a');
        cell_textf(c, "%s%s%.*s/%s", kind, slash ? "." : "", slash ? (int)(slash - version) : 0,
                   version, cells_text(owner, "name"));
        return;
    }
    cell_text(c, "<none>");
}

static void print_revision(struct cells *c)
{
    cell_name(c);
    cell_controller(c);
    cell_int_at(c, "revision", 0);
    cell_age(c);
}

static const struct printer_column revision_columns[] = {
    COLUMN_NAME,
    {"Controller", "string", "", "The workload whose state this is.", 0},
    {"Revision", "string", "", "Number of the revision; higher is newer.", 0},
    COLUMN_AGE,
};

const struct printer printer_controllerrevisions = {
    .resource = "controllerrevisions.apps",
    .columns = revision_columns,
    .n_columns = ARRAY_LEN(revision_columns),
    .print = print_revision,
};
