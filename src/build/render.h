/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Manifests to configuration files, without a cluster. */
#pragma once

#include "src/api/problems.h"
#include "src/build/controller_config.h"

/* One document of a manifest. */
struct render_doc {
    const struct jsn *object;
    const char *place; /* "cluster.yaml, document 2" */
};

struct render_cluster {
    const char *name; /* "slurm/main": namespace and name of the Controller */
    struct build_config config;
    bool good;        /* Slurm would take it */
    struct jsn *push; /* for its agent: build_config_push; NULL: one of the files is no text */
};

struct render_result {
    struct render_cluster *clusters; /* in the order of their Controllers */
    size_t n;
};

/*
 * Render the configuration of every Controller among the documents.  Lists count as their items;
 * objects of other kinds are passed over.  What is wrong is added to `p`, with the document's place
 * before the object.  Everything lives in `a`, which must outlive the documents' use.
 */
void render_manifests(struct arena *a, const struct build_env *env, const struct render_doc *docs,
                      size_t n, struct render_result *ret, struct api_problems *p);
