/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pod templates: metadata and a PodSpec that is kept as it was written.
 *
 * The PodSpec has no schema here, so that fields of any Kubernetes release go through; the API
 * server checks the pod that comes out.  src/build merges it over what we make ourselves.
 */
#include "src/api/template.h"

const struct jsn_field api_labels_fields[] = {
    {"labels", JSN_MAP, offsetof(struct api_labels, labels), JSN_NULLABLE,
     .doc = "Labels to add to what is made from this object."},
    {"annotations", JSN_MAP, offsetof(struct api_labels, annotations), JSN_NULLABLE,
     .doc = "Annotations to add to what is made from this object."},
    JSN_END,
};

const struct jsn_field api_template_fields[] = {
    {"metadata", JSN_SUB, offsetof(struct api_template, metadata), 0, .sub = api_labels_fields,
     .size = sizeof(struct api_labels), .doc = "Labels and annotations of the pods."},
    {"spec", JSN_RAW, offsetof(struct api_template, spec), 0,
     .doc = "A PodSpec that is merged over the one that is made for the pods. Lists of things with "
            "names (containers, volumes, ...) merge by name, other lists replace."},
    JSN_END,
};

const char *api_template_hostname(const struct api_template *t)
{
    const char *hostname = jsn_get_str(t->spec, "hostname");

    return hostname && hostname[0] ? hostname : NULL;
}
