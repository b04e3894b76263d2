/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is of the one machine in objects that go to another place: images that nobody had to name
 * there, and directories.
 */
#include "src/cli/export.h"

/* The containers that are what they are called after, and the image of each. */
static const struct {
    const char *kind;
    const char *container;
    const char *image;
} containers[] = {
    {"Accounting", "slurmdbd", "slurmdbd"},  {"Controller", "slurmctld", "slurmctld"},
    {"LoginSet", "login", "login"},          {"NodeSet", "slurmd", "slurmd"},
    {"RestApi", "slurmrestd", "slurmrestd"},
};

/* The place of the image of an object's main container; NULL: it has none. */
static const char *image_path(struct arena *a, const struct jsn *object, size_t *ret_which)
{
    if (jsn_get_bool(object, "spec.external", false))
        return NULL;
    for (size_t i = 0; i < ARRAY_LEN(containers); i++)
        if (streq(jsn_get_str(object, "kind"), containers[i].kind)) {
            *ret_which = i;
            return arena_printf(a, "spec.%s.image", containers[i].container);
        }
    return NULL;
}

bool export_lacks_image(const struct jsn *object)
{
    AUTO(arena_done) struct arena a = {0};
    size_t which = 0;
    const char *path = image_path(&a, object, &which);
    const char *image = path ? jsn_get_str(object, path) : NULL;

    return path && (!image || !image[0]);
}

void export_set_images(struct arena *a, struct jsn *object, const char *tag)
{
    size_t which = 0;
    const char *path = image_path(a, object, &which);

    if (path && export_lacks_image(object))
        jsn_set_path(a, object, path,
                     jsn_stringf(a, "slurmkeeper/%s:%s", containers[which].image, tag));
}

static bool has_host_path(const struct jsn *v)
{
    JSN_FOR_ITEMS (item, v)
        if (has_host_path(item))
            return true;
    JSN_FOR_MEMBERS (m, v)
        if (str_eqz(m->key, "hostPath") || has_host_path(m->value))
            return true;
    return false;
}

bool export_uses_machine(const struct jsn *object)
{
    return has_host_path(jsn_key(object, "spec"));
}
