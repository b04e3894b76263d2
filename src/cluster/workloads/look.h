/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One look at a workload: what it reads, and the plan that comes of it. */
#pragma once

#include "src/cluster/apiserver/inside.h"
#include "src/cluster/workloads/plan.h"

struct look {
    struct apiserver *server;
    struct arena *arena;
    struct plan plan;
    const char *ns;
    const char *name;
    struct jsn *object; /* NULL: gone, for controllers that clean up after it */
};

struct controller {
    const char *resource; /* as the store names it */
    const char *kind;     /* in owner references */
    bool gone_too;        /* is to look at objects that are gone, too */
    int (*look)(struct look *l, struct err *e);
};

/* All of them; ends with a NULL resource. */
extern const struct controller controllers[];
