/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Metadata of our objects.
 *
 * Only what is read is decoded: names, identity, times, labels, annotations, finalizers.  Nothing
 * here is written back; whoever patches metadata works on the JSON.  A file need not name a
 * namespace; kubectl would put "default" there, and so does api_namespace.
 */
#include "src/api/meta.h"

const struct jsn_field api_meta_fields[] = {
    {"name", JSN_STR, offsetof(struct api_meta, name), 0},
    {"namespace", JSN_STR, offsetof(struct api_meta, namespace), 0},
    {"uid", JSN_STR, offsetof(struct api_meta, uid), 0},
    {"resourceVersion", JSN_STR, offsetof(struct api_meta, resource_version), 0},
    {"generation", JSN_I64, offsetof(struct api_meta, generation), 0},
    {"creationTimestamp", JSN_TIME, offsetof(struct api_meta, created_us), 0},
    {"deletionTimestamp", JSN_TIME, offsetof(struct api_meta, deleted_us), 0},
    {"labels", JSN_MAP, offsetof(struct api_meta, labels), 0},
    {"annotations", JSN_MAP, offsetof(struct api_meta, annotations), 0},
    {"finalizers", JSN_STRS, offsetof(struct api_meta, finalizers), 0},
    JSN_END,
};

const char *api_namespace(const struct api_meta *m)
{
    return m->namespace && m->namespace[0] ? m->namespace : "default";
}

const char *api_annotation(const struct api_meta *m, const char *key)
{
    return jsn_map_get(&m->annotations, key);
}

const char *api_full_name(struct arena *a, const struct api_meta *m)
{
    return arena_printf(a, "%s/%s", api_namespace(m), m->name ? m->name : "");
}
