/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * References: tables for the four shapes in which one object names another.
 *
 * Every reference stays in the object's own namespace.  Only the one to a Controller has a
 * namespace at all, because manifests carry it; anything but the object's own is refused by
 * validation.
 */
#include "src/api/refs.h"

const struct jsn_field api_ref_fields[] = {
    {"name", JSN_STR, offsetof(struct api_ref, name), 0, .def = "\"\"",
     .doc = "Name of the object, in the same namespace."},
    JSN_END,
};

const struct jsn_field api_secret_key_fields[] = {
    {"name", JSN_STR, offsetof(struct api_key_ref, name), 0, .def = "\"\"",
     .doc = "Name of the Secret, in the same namespace."},
    {"key", JSN_STR, offsetof(struct api_key_ref, key), JSN_REQ, .doc = "Key in the Secret."},
    {"optional", JSN_FLAG, offsetof(struct api_key_ref, optional), 0,
     .doc = "Whether the Secret or its key may be missing."},
    JSN_END,
};

const struct jsn_field api_config_key_fields[] = {
    {"name", JSN_STR, offsetof(struct api_key_ref, name), 0, .def = "\"\"",
     .doc = "Name of the ConfigMap, in the same namespace."},
    {"key", JSN_STR, offsetof(struct api_key_ref, key), JSN_REQ, .doc = "Key in the ConfigMap."},
    {"optional", JSN_FLAG, offsetof(struct api_key_ref, optional), 0,
     .doc = "Whether the ConfigMap or its key may be missing."},
    JSN_END,
};

const struct jsn_field api_controller_ref_fields[] = {
    {"name", JSN_STR, offsetof(struct api_controller_ref, name), 0, .def = "\"\"",
     .doc = "Name of the Controller, in the same namespace."},
    {"namespace", JSN_STR, offsetof(struct api_controller_ref, namespace), 0,
     .doc = "Namespace of the Controller. Can be left out; if given, it must be this object's own "
            "namespace."},
    JSN_END,
};

bool api_key_ref_equal(const struct api_key_ref *a, const struct api_key_ref *b)
{
    if (!a || !b)
        return a == b;
    return streq(a->name, b->name) && streq(a->key, b->key);
}
