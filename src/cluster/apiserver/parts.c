/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parts of objects that many ask for: names, and whether an object is on its way out. */
#include "src/cluster/apiserver/parts.h"

static const char *text_at(const struct jsn *object, const char *path)
{
    const char *s = jsn_get_str(object, path);

    return s ? s : "";
}

const char *object_name(const struct jsn *object)
{
    return text_at(object, "metadata.name");
}

const char *object_namespace(const struct jsn *object)
{
    return text_at(object, "metadata.namespace");
}

const char *object_uid(const struct jsn *object)
{
    return text_at(object, "metadata.uid");
}

bool object_deleting(const struct jsn *object)
{
    return jsn_get_str(object, "metadata.deletionTimestamp") != NULL;
}
