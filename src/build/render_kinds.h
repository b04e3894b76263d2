/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How manifests of our kinds are rendered; private to the files render*.c. */
#pragma once

#include "src/api/kinds.h"
#include "src/base/map.h"
#include "src/build/render.h"

/* A Controller with what belongs to it. */
struct site {
    struct controller controller;
    const struct nodeset **nodesets;
    size_t n;
    size_t cap;
    const struct api_partition **partitions;
    size_t n_partitions;
    size_t cap_partitions;
    const char *place;
};

/* An object and where it was written. */
struct written {
    const struct jsn *object;
    const char *place;
};

struct renderer {
    struct arena *a;
    struct api_problems *p;
    struct map objects;       /* "Kind/namespace/name" to struct written */
    struct written **written; /* the same in order */
    size_t n_written;
    size_t cap_written;
    struct map sites; /* "namespace/name" to struct site */
    struct site **order;
    size_t n;
    size_t cap;
    struct nodeset **nodesets;
    size_t n_nodesets;
    size_t cap_nodesets;
    struct api_partition **partitions;
    size_t n_partitions;
    size_t cap_partitions;
};

/* One of our kinds.  Both members are set; a kind that says nothing about the files of Slurm has
 * render_check_only and render_settle_nothing. */
struct render_kind {
    /* Decode an object, check it, keep it in the renderer; what is wrong is told. */
    void (*take)(struct renderer *r, const struct jsn *object, const char *place);
    /* When all are taken: hand what was kept to its Controller. */
    void (*settle)(struct renderer *r, const struct build_env *env);
};

#define RENDER_KIND_DECLARE(ID, name) extern const struct render_kind render_##name;
API_KINDS(RENDER_KIND_DECLARE)

/* By enum api_kind_id. */
extern const struct render_kind *const render_kinds[API_N_KINDS];

void render_check_only(struct renderer *r, const struct jsn *object, const char *place);
void render_settle_nothing(struct renderer *r, const struct build_env *env);

/* "cluster.yaml, document 2: NodeSet slurm/gpu" */
const char *render_describe(const struct renderer *r, const struct jsn *object, const char *place);
/* "NodeSet/slurm/gpu", as objects are kept. */
const char *render_key(struct arena *a, const char *kind, const char *ns, const char *name);
