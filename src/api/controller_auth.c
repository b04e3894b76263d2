/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Authentication, as a Controller declares it.
 *
 * A release that has auth/slurm takes munge, too.  Which of the two is said in Slurm's own words,
 * AuthType in extraConf; CredType follows from it.  Keys come from the Secret of slurmKeyRef: one
 * key, or, where the key's name ends with .jwks, a set of them for rotation.
 */
#include <strings.h>

#include "src/api/controller.h"

static enum controller_auth by_name(const char *type)
{
    if (strcasecmp(type, "auth/munge") == 0)
        return CONTROLLER_AUTH_MUNGE;
    return strcasecmp(type, "auth/slurm") == 0 ? CONTROLLER_AUTH_SLURM : CONTROLLER_AUTH_DEFAULT;
}

enum controller_auth controller_auth(const struct controller *c)
{
    AUTO(arena_done) struct arena a = {0};
    const char *type = controller_extra(&a, c, "AuthType");

    return type ? by_name(type) : CONTROLLER_AUTH_DEFAULT;
}

bool controller_has_key_set(const struct controller *c)
{
    const struct api_key_ref *ref = c->spec.slurm_key_ref;

    return ref && ref->name && ref->name[0] && ref->key && ends_with(ref->key, ".jwks");
}
