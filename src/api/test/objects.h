/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For tests: objects out of YAML, and problems as lines. */
#pragma once

#include "src/base/test/unit.h"

#include "src/api/problems.h"
#include "src/json/yaml.h"

static inline UNUSED struct jsn *yaml_of(struct arena *a, const char *text)
{
    struct err e = {0};
    struct jsn *v;

    if (yaml_parse(a, str_of(text), NULL, &v, &e) < 0)
        fail_msg("%s: %s", text, e.text);
    return v;
}

static inline UNUSED struct jsn *yamls_of(struct arena *a, const char *text)
{
    struct err e = {0};
    struct jsn *v;

    if (yaml_parse_all(a, str_of(text), NULL, &v, &e) < 0)
        fail_msg("%s: %s", text, e.text);
    return v;
}

/* An object of ours named `name` in namespace slurm, with this spec (YAML, indented by two). */
static inline UNUSED struct jsn *ours_of(struct arena *a, const char *kind, const char *name,
                                         const char *spec)
{
    const char *version =
        strcmp(kind, "Partition") == 0 ? "slurmkeeper.dev/v1alpha1" : "slinky.slurm.net/v1beta1";

    return yaml_of(a, arena_printf(a,
                                   "apiVersion: %s\nkind: %s\n"
                                   "metadata: {name: %s, namespace: slurm}\nspec:\n%s\n",
                                   version, kind, name, spec));
}

/* One line each, warnings with "warning: " before them. */
static inline UNUSED const char *lines_of(struct arena *a, const struct api_problems *p)
{
    AUTO(buf_done) struct buf b = {0};

    for (size_t i = 0; i < p->n; i++) {
        if (p->items[i].reason == API_WARNING)
            buf_adds(&b, "warning: ");
        api_problem_print(&p->items[i], &b);
        buf_addc(&b, '\n');
    }
    return arena_strdup(a, buf_str(&b));
}
