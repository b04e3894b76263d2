/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Settings that are the operator's (src/slurm/owned.c), and who declares them in extraConf.  To say
 * once more what is so anyway does no harm.
 */
#include <strings.h>

#include "src/api/controller.h"
#include "src/slurm/owned.h"

static bool is_among(const char *list, const char *value)
{
    struct str rest = str_of(list);
    struct str word;

    while (str_split(&rest, ' ', &word))
        if (str_eq_nocase(word, str_of(value)))
            return true;
    return false;
}

const char *controller_owned(struct arena *a, const char *key, const char *value)
{
    for (const struct owned_key *o = owned_keys; o->key; o++) {
        if (!o->what || strcasecmp(o->key, key) != 0)
            continue;
        if (o->fixed && is_among(o->fixed, value))
            return NULL;
        if (o->fixed && strchr(o->fixed, ' '))
            return arena_printf(a, "%s %s and cannot be set to %s; remove the line", o->key,
                                o->what, value);
        return arena_printf(a, "%s %s and cannot be set; remove the line", o->key, o->what);
    }
    return NULL;
}
