/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables: what `kubectl get` prints, made by the server. */
#pragma once

#include "src/cluster/apiserver/call.h"

/* One column; priority 1 shows with -o wide only. */
struct printer_column {
    const char *name;
    const char *type;   /* "string", "integer", "number", "boolean", "date" */
    const char *format; /* "name" for the first column, else "" */
    const char *description;
    int priority;
};

/* The columnDefinitions of a resource (custom ones from their printer columns). */
struct jsn *printer_columns(struct arena *a, const struct resource *res);

/*
 * One row: {"cells": [...], "conditions": [...], "object": ...}.  `object` is what goes into the
 * row's object (PartialObjectMetadata, the whole object, or null), `now_us` the time ages count to.
 */
struct jsn *printer_row(struct arena *a, const struct resource *res, const struct jsn *object,
                        struct jsn *row_object, int64_t now_us);
