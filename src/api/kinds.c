/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of our kinds.
 *
 * The rows stand with the kinds (controller.c, nodeset.c, partition.c); the list in kinds.h brings
 * them together.  Names, short names and columns of its group are those of Slinky, so that habits
 * and scripts go on working.
 */
#include "src/api/kinds.h"

#define ROW(ID, name) [KIND_##ID] = &api_kind_##name,
const struct api_kind *const api_kinds[API_N_KINDS + 1] = {API_KINDS(ROW)};

const struct api_kind *api_kind_find(const char *name)
{
    API_FOR_KINDS (k)
        if (streq(k->kind, name) || streq(k->plural, name))
            return k;
    return NULL;
}

const struct api_kind *api_kind_of(const struct jsn *object)
{
    const struct api_kind *k = api_kind_find(jsn_get_str(object, "kind"));
    struct str version = {0};
    struct str rest = str_of(jsn_get_str(object, "apiVersion"));

    if (!k || !str_split(&rest, '/', &version) || !str_eqz(version, k->group) ||
        !str_eqz(rest, k->version))
        return NULL;
    return k;
}

const char *api_group_version(const char *group)
{
    if (streq(group, API_GROUP))
        return API_VERSION;
    return streq(group, API_OWN_GROUP) ? API_OWN_VERSION : NULL;
}

bool api_group_is_ours(const char *group)
{
    return api_group_version(group) != NULL;
}

const char *api_kind_names(struct arena *a)
{
    const char *text = "";

    API_FOR_KINDS (k)
        text = arena_printf(a, "%s%s%s", text,
                            k->id == 0                 ? ""
                            : k->id == API_N_KINDS - 1 ? " or "
                                                       : ", ",
                            k->kind);
    return text;
}

const char *api_no_slurm_name(struct arena *a, const struct jsn *object)
{
    (void)a;
    (void)object;
    return NULL;
}
