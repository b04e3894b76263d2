/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rows of namespaces, nodes, leases and priority classes.
 *
 * STATUS of a node comes from its Ready condition alone (Unknown without one), with
 * ",SchedulingDisabled" while it takes no new pods.  ROLES come from labels, sorted, each once.
 */
#include "src/cluster/apiserver/printers/cells.h"

#include <stdlib.h>

static void print_namespace(struct cells *c)
{
    cell_name(c);
    cell_at(c, "status.phase", "");
    cell_age(c);
}

static const struct printer_column namespace_columns[] = {
    COLUMN_NAME,
    {"Status", "string", "", "Active, or Terminating while it is being emptied.", 0},
    COLUMN_AGE,
};

const struct printer printer_namespaces = {
    .resource = "namespaces",
    .columns = namespace_columns,
    .n_columns = ARRAY_LEN(namespace_columns),
    .print = print_namespace,
};

static void cell_node_status(struct cells *c)
{
    const char *status = "Unknown";

    JSN_FOR_ITEMS (condition, jsn_get(c->object, "status.conditions"))
        if (streq(jsn_get_str(condition, "type"), "Ready"))
            status = streq(jsn_get_str(condition, "status"), "True") ? "Ready" : "NotReady";
    cell_textf(c, "%s%s", status,
               jsn_get_bool(c->object, "spec.unschedulable", false) ? ",SchedulingDisabled" : "");
}

static int by_text(const void *a, const void *b)
{
    const char *const *x = a;
    const char *const *y = b;

    return strcmp(*x, *y);
}

/* Suffixes of node-role.kubernetes.io/ labels and the value of kubernetes.io/role, each once. */
static void cell_roles(struct cells *c)
{
    static const char prefix[] = "node-role.kubernetes.io/";
    const struct jsn *labels = jsn_get(c->object, "metadata.labels");
    const char **roles = arena_calloc(c->arena, jsn_len(labels) + 1, sizeof(*roles));
    AUTO(buf_done) struct buf b = {0};
    size_t n = 0;

    JSN_FOR_MEMBERS (m, labels) {
        const char *value = jsn_text(m->value);

        if (str_starts(m->key, prefix) && m->key.n > sizeof(prefix) - 1)
            roles[n++] = m->key.p + sizeof(prefix) - 1;
        else if (str_eqz(m->key, "kubernetes.io/role") && value && value[0] != '\0')
            roles[n++] = value;
    }
    qsort(roles, n, sizeof(*roles), by_text);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || !streq(roles[i], roles[i - 1]))
            buf_printf(&b, "%s%s", b.n > 0 ? "," : "", roles[i]);
    cell_text(c, b.n > 0 ? buf_str(&b) : "<none>");
}

static void cell_node_address(struct cells *c, const char *type)
{
    JSN_FOR_ITEMS (address, jsn_get(c->object, "status.addresses")) {
        if (streq(jsn_get_str(address, "type"), type)) {
            cell_text(c, cells_text(address, "address"));
            return;
        }
    }
    cell_text(c, "<none>");
}

static void print_node(struct cells *c)
{
    cell_name(c);
    cell_node_status(c);
    cell_roles(c);
    cell_age(c);
    cell_at(c, "status.nodeInfo.kubeletVersion", "");
    cell_node_address(c, "InternalIP");
    cell_node_address(c, "ExternalIP");
    cell_at(c, "status.nodeInfo.osImage", "<unknown>");
    cell_at(c, "status.nodeInfo.kernelVersion", "<unknown>");
    cell_at(c, "status.nodeInfo.containerRuntimeVersion", "<unknown>");
}

static const struct printer_column node_columns[] = {
    COLUMN_NAME,
    {"Status", "string", "", "Whether the node is ready, and takes new pods.", 0},
    {"Roles", "string", "", "Roles of the node, from its labels.", 0},
    COLUMN_AGE,
    {"Version", "string", "", "Release of the program that runs its pods.", 0},
    {"Internal-IP", "string", "", "Address inside of the cluster.", 1},
    {"External-IP", "string", "", "Address outside of the cluster.", 1},
    {"OS-Image", "string", "", "Operating system.", 1},
    {"Kernel-Version", "string", "", "Release of the kernel.", 1},
    {"Container-Runtime", "string", "", "What runs its containers.", 1},
};

const struct printer printer_nodes = {
    .resource = "nodes",
    .columns = node_columns,
    .n_columns = ARRAY_LEN(node_columns),
    .print = print_node,
};

static void print_lease(struct cells *c)
{
    cell_name(c);
    cell_at(c, "spec.holderIdentity", "");
    cell_age(c);
}

static const struct printer_column lease_columns[] = {
    COLUMN_NAME,
    {"Holder", "string", "", "Who holds the lease.", 0},
    COLUMN_AGE,
};

const struct printer printer_leases = {
    .resource = "leases.coordination.k8s.io",
    .columns = lease_columns,
    .n_columns = ARRAY_LEN(lease_columns),
    .print = print_lease,
};

static void print_priority(struct cells *c)
{
    cell_name(c);
    cell_int_at(c, "value", 0);
    cell_bool(c, jsn_get_bool(c->object, "globalDefault", false));
    cell_age(c);
}

static const struct printer_column priority_columns[] = {
    COLUMN_NAME,
    {"Value", "integer", "", "Priority of its pods; higher comes first.", 0},
    {"Global-Default", "boolean", "", "Whether pods without a class get this one.", 0},
    COLUMN_AGE,
};

const struct printer printer_priorityclasses = {
    .resource = "priorityclasses.scheduling.k8s.io",
    .columns = priority_columns,
    .n_columns = ARRAY_LEN(priority_columns),
    .print = print_priority,
};
