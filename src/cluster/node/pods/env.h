/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The environment and the command of a container; pure. */
#pragma once

#include "src/cluster/node/pods/field.h"

/*
 * Where ConfigMaps and Secrets come from: the object, borrowed for as long as the arena of the
 * question lives, or NULL if there is none.
 */
struct object_source {
    const struct jsn *(*get)(void *arg, struct arena *a, const char *plural, const char *ns,
                             const char *name);
    void *arg;
};

struct env_context {
    const struct field_context *fields;
    const struct object_source *source;
    const char *const *before; /* "NAME=value" that come first, NULL-terminated; or NULL */
};

/* An error of class ERR_RETRY: something that is referred to is not there yet. */
int env_build(struct arena *a, const struct pod_spec *p, const struct ctr_spec *c,
              const struct env_context *x, const char ***ret_env, struct err *e) MUST_CHECK;

/* $(NAME) becomes the value in `env`, $$ a dollar sign; what is not known stays as it is. */
const char *env_expand(struct arena *a, const char *text, const char *const *env);

/*
 * What is run: command and args, expanded.  `entrypoint` stands for a missing command; where it is
 * NULL too the error says what to do.
 */
int env_command(struct arena *a, const struct ctr_spec *c, const char *entrypoint,
                const char *const *env, const char ***ret_argv, struct err *e) MUST_CHECK;

/* "slurmd" of "ghcr.io/slinkyproject/slurmd:25.05@sha256:..."; in `a`. */
const char *env_image_name(struct arena *a, const char *image);

/* A value of a ConfigMap (data, binaryData) or Secret (base64); view with p == NULL: not there. */
struct str object_data(struct arena *a, const struct jsn *object, const char *plural,
                       struct str key);
/* All keys, sorted; NULL-terminated. */
const char **object_keys(struct arena *a, const struct jsn *object);
