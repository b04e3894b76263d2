/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tables for `kubectl get`.
 *
 * Each built-in kind has a printer in printers/; custom resources are printed by the columns of
 * their definition.  What has neither shows its name and when it was created.  All columns are
 * always sent: kubectl leaves out those of priority 1 unless it is asked for -o wide.
 */
#include "src/cluster/apiserver/printer.h"

#include "src/cluster/apiserver/printers/cells.h"

static const struct printer *const printers[] = {
    &printer_autoscalers,
    &printer_clusterrolebindings,
    &printer_configmaps,
    &printer_controllerrevisions,
    &printer_cronjobs,
    &printer_daemonsets,
    &printer_deployments,
    &printer_endpoints,
    &printer_endpointslices,
    &printer_events,
    &printer_ingresses,
    &printer_jobs,
    &printer_leases,
    &printer_mutatingwebhooks,
    &printer_namespaces,
    &printer_networkpolicies,
    &printer_nodes,
    &printer_persistentvolumeclaims,
    &printer_persistentvolumes,
    &printer_poddisruptionbudgets,
    &printer_pods,
    &printer_podtemplates,
    &printer_priorityclasses,
    &printer_replicasets,
    &printer_replicationcontrollers,
    &printer_resourcequotas,
    &printer_rolebindings,
    &printer_secrets,
    &printer_serviceaccounts,
    &printer_services,
    &printer_statefulsets,
    &printer_storageclasses,
    &printer_validatingwebhooks,
};

static void print_plain(struct cells *c)
{
    cell_name(c);
    cell_at(c, "metadata.creationTimestamp", "");
}

static const struct printer_column plain_columns[] = {
    COLUMN_NAME,
    {"Created At", "date", "", "When the object was created.", 0},
};

static const struct printer plain = {
    .columns = plain_columns,
    .n_columns = ARRAY_LEN(plain_columns),
    .print = print_plain,
};

static const struct printer *printer_of(const struct resource *res)
{
    const struct resource *stored = res->stored ? res->stored : res;

    for (size_t i = 0; i < ARRAY_LEN(printers); i++)
        if (resource_is_stored_as(stored, printers[i]->resource))
            return printers[i];
    return &plain;
}

struct jsn *column_object(struct arena *a, const struct printer_column *column)
{
    struct jsn *o = jsn_object(a);

    jsn_set_str(a, o, "name", column->name);
    jsn_set_str(a, o, "type", column->type);
    jsn_set_str(a, o, "format", column->format);
    jsn_set_str(a, o, "description", column->description);
    jsn_set_int(a, o, "priority", column->priority);
    return o;
}

struct jsn *printer_columns(struct arena *a, const struct resource *res)
{
    struct jsn *columns = jsn_array(a);
    const struct printer *p;

    if (res->custom) {
        custom_columns(a, res, columns);
        return columns;
    }
    p = printer_of(res);
    for (size_t i = 0; i < p->n_columns; i++)
        jsn_append(a, columns, column_object(a, &p->columns[i]));
    return columns;
}

struct jsn *printer_row(struct arena *a, const struct resource *res, const struct jsn *object,
                        struct jsn *row_object, int64_t now_us)
{
    struct cells c = {.arena = a, .object = object, .now_us = now_us, .row = jsn_array(a)};
    const struct printer *p = printer_of(res);
    struct jsn *row = jsn_object(a);
    struct jsn *conditions = NULL;

    if (res->custom)
        custom_print(&c, res);
    else
        p->print(&c);
    if (!res->custom && p->conditions)
        conditions = p->conditions(a, object);
    jsn_set(a, row, "cells", c.row);
    if (conditions)
        jsn_set(a, row, "conditions", conditions);
    jsn_set(a, row, "object", row_object ? row_object : jsn_null(a));
    return row;
}
