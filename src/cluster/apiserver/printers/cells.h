/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Making the cells of a table's row. */
#pragma once

#include "src/cluster/apiserver/printer.h"

/* One row in the making. */
struct cells {
    struct arena *arena;
    const struct jsn *object;
    int64_t now_us;
    struct jsn *row; /* array */
};

/* How the rows of one resource are printed. */
struct printer {
    const char *resource; /* store name: "pods", "deployments.apps" */
    const struct printer_column *columns;
    size_t n_columns;
    void (*print)(struct cells *c);
    /* The row's conditions, or NULL: none. */
    struct jsn *(*conditions)(struct arena *a, const struct jsn *object);
};

#define COLUMN_NAME                                                                                \
    {"Name", "string", "name", "Name of the object, unique among its kind in a namespace.", 0}
#define COLUMN_AGE {"Age", "string", "", "Time since the object was created.", 0}
#define COLUMN_CONTAINERS                                                                          \
    {"Containers", "string", "", "Names of the containers in the template.", 1},                   \
        {"Images", "string", "", "Images of the containers in the template.", 1}
#define COLUMN_SELECTOR {"Selector", "string", "", "Labels of the pods that it is about.", 1}

void cell_text(struct cells *c, const char *text);
void cell_textf(struct cells *c, const char *fmt, ...) PRINTF(2, 3);
void cell_int(struct cells *c, int64_t i);
void cell_bool(struct cells *c, bool b);

/* metadata.name; a text, a count of the object at a path. */
void cell_name(struct cells *c);
void cell_at(struct cells *c, const char *path, const char *otherwise);
void cell_int_at(struct cells *c, const char *path, int64_t otherwise);
/* The age of the object; and of any time, "<unknown>" if it is absent. */
void cell_age(struct cells *c);
const char *cells_age_of(struct cells *c, const char *time);
/* Names, then images, of a list of containers: two cells. */
void cell_containers(struct cells *c, const struct jsn *containers);
/* A selector object, a plain map of labels; "<none>" if empty. */
void cell_selector(struct cells *c, const struct jsn *selector);
void cell_labels(struct cells *c, const struct jsn *labels);

/* Text of a member, "" if it is absent. */
const char *cells_text(const struct jsn *v, const char *path);

extern const struct printer printer_autoscalers, printer_configmaps, printer_controllerrevisions,
    printer_cronjobs, printer_daemonsets, printer_deployments, printer_endpoints,
    printer_endpointslices, printer_events, printer_ingresses, printer_jobs, printer_leases,
    printer_mutatingwebhooks, printer_namespaces, printer_networkpolicies, printer_nodes,
    printer_persistentvolumeclaims, printer_persistentvolumes, printer_poddisruptionbudgets,
    printer_pods, printer_podtemplates, printer_priorityclasses, printer_replicasets,
    printer_replicationcontrollers, printer_resourcequotas, printer_rolebindings,
    printer_clusterrolebindings, printer_secrets, printer_serviceaccounts, printer_services,
    printer_statefulsets, printer_storageclasses, printer_validatingwebhooks;

/* Custom resources: by the printer columns of their version. */
void custom_columns(struct arena *a, const struct resource *res, struct jsn *columns);
void custom_print(struct cells *c, const struct resource *res);
/* One column as {"name": ..., "type": ...}. */
struct jsn *column_object(struct arena *a, const struct printer_column *column);
