/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What users may lay over the pods that we make. */
#pragma once

#include "src/json/fields.h"

/* Labels and annotations for what is made from the object. */
struct api_labels {
    struct jsn_map labels;
    struct jsn_map annotations;
};

struct api_template {
    struct api_labels metadata;
    const struct jsn *spec; /* a PodSpec, as written; NULL: none */
};

extern const struct jsn_field api_labels_fields[];
extern const struct jsn_field api_template_fields[];

/* template.spec.hostname, or NULL if it is absent or empty. */
const char *api_template_hostname(const struct api_template *t);
