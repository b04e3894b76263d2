/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The names of key files in Slurm's configuration directory. */
#pragma once

#include "src/base/str.h"

#define KEYFILE_SLURM "slurm.key" /* by which the daemons know each other */
#define KEYFILE_SLURM_SET "slurm.jwks"
#define KEYFILE_JWT "jwt.key"
#define KEYFILE_JWT_OLD "jwt_hs256.key"
#define KEYFILE_JWT_SET "jwks.json"
#define KEYFILE_MUNGE "munge.key"
#define KEYFILE_MUNGE_RING "munge.ring"
#define KEYFILE_STAGE "key.stage" /* beside slurm.key, which has no room for it */

struct keyfile {
    const char *name;
    bool slurm; /* Slurm's own daemons read it */
    bool ours;  /* comes from a Secret or ConfigMap that a Controller names; users bring none */
};

/* All of them; ends with a NULL name. */
extern const struct keyfile keyfiles[];

/* By its name, without a directory; NULL: it is none. */
const struct keyfile *keyfile_find(struct str name);

/* Does the name say that the file is a key?  True for all of the table, and for what ends like a
 * key.  Such files are never sent to an agent: they reach it as Secrets. */
bool keyfile_is_secret(const char *name);
