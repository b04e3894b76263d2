/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The Secrets that are made for a Controller that names none. */
#pragma once

#include "src/build/cluster.h"
#include "src/json/jsn.h"

/* How many random bytes a key is made from, and how long it is. */
#define SECRET_KEY_BYTES 1024

/*
 * Secret <name>-auth-slurm or <name>-auth-jwt, from randomness that the caller brings; it contains
 * nothing else.  NULL if the Controller names a Secret of its own.  Made once: whoever finds it
 * leaves it alone.
 */
struct jsn *build_slurm_secret(struct arena *a, const struct build_cluster *c,
                               const unsigned char random[SECRET_KEY_BYTES]);
struct jsn *build_jwt_secret(struct arena *a, const struct build_cluster *c,
                             const unsigned char random[SECRET_KEY_BYTES]);
