/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the store of a state directory lies. */
#pragma once

#include "src/cluster/apiserver/store.h"

struct store_place {
    char *dir;
    char *lock;
    struct store_options options; /* its strings are owned here */
};

/* The directory must be there. */
void store_place_init(struct store_place *p, const char *state_dir);
void store_place_done(struct store_place *p);
DEFINE_AUTO_DONE(struct store_place, store_place_done);

/* The directory is about to be removed: nobody shall miss what was in it. */
void store_place_forget(const char *state_dir);

/* Become the only one who opens it: *ret_fd holds it until closed.  -EBUSY: an API server does. */
int store_place_lock(const struct store_place *p, int *ret_fd, struct err *e) MUST_CHECK;
/* Has this directory been in use, though it has neither a database nor a mark? */
int store_place_refuse_emptied(const struct store_place *p, struct err *e) MUST_CHECK;
