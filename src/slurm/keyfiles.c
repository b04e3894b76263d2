/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Key files.
 *
 * One table says which files of Slurm's directory are keys.  Whoever mounts them, keeps them out of
 * a push, refuses a user's file of that name, or tells what their change costs, asks here.
 */
#include "src/slurm/keyfiles.h"

const struct keyfile keyfiles[] = {
    {KEYFILE_SLURM, true, true},
    {KEYFILE_SLURM_SET, true, true},
    {KEYFILE_JWT, true, true},
    {KEYFILE_JWT_OLD, true, false},
    {KEYFILE_JWT_SET, true, true},
    {KEYFILE_MUNGE, false, true},
    {KEYFILE_MUNGE_RING, false, true},
    {KEYFILE_STAGE, false, true},
    {NULL},
};

const struct keyfile *keyfile_find(struct str name)
{
    for (const struct keyfile *k = keyfiles; k->name; k++)
        if (str_eqz(name, k->name))
            return k;
    return NULL;
}

bool keyfile_is_secret(const char *name)
{
    return ends_with(name, ".key") || ends_with(name, ".jwks") || keyfile_find(str_of(name));
}
