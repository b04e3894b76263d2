/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the store of a state directory lies.
 *
 *   STATE/api.db, -wal, -shm   the database
 *   STATE/api.mark             how far acknowledged writes went (mark.c)
 *   STATE/keys/store.key       the keys of what is secret in it (seal.c)
 *   /run/slurmkeeper/ID.mark   the witness: the same, but it comes with no backup of the state
 *                              directory, and goes with the pods when the machine is started again
 *
 * A process that may not write /run has no witness (witness.c).
 */
#include "src/cluster/apiserver/store_place.h"

#include <fcntl.h>
#include <sys/file.h>

#include "src/base/alloc.h"
#include "src/base/clock.h"
#include "src/base/file.h"
#include "src/cluster/apiserver/witness.h"

#define WITNESS_DIR "/run/slurmkeeper"

void store_place_init(struct store_place *p, const char *state_dir)
{
    *p = (struct store_place){
        .dir = xstrdup(state_dir),
        .lock = xasprintf("%s/apiserver.lock", state_dir),
        .options = {.path = xasprintf("%s/api.db", state_dir),
                    .mark = xasprintf("%s/api.mark", state_dir),
                    .witness = witness_place(WITNESS_DIR, state_dir),
                    .keys = xasprintf("%s/keys/store.key", state_dir)},
    };
}

static void drop(const char *text)
{
    free((void *)(uintptr_t)text);
}

void store_place_done(struct store_place *p)
{
    free(p->dir);
    free(p->lock);
    drop(p->options.path);
    drop(p->options.mark);
    drop(p->options.witness);
    drop(p->options.keys);
    *p = (struct store_place){0};
}

void store_place_forget(const char *state_dir)
{
    witness_forget(WITNESS_DIR, state_dir);
    witness_sweep(WITNESS_DIR, clock_wall_us() / 1000000);
}

int store_place_lock(const struct store_place *p, int *ret_fd, struct err *e)
{
    AUTO(close) int fd = open(p->lock, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

    if (fd < 0)
        return err_errno(e, errno, "cannot open '%s'", p->lock);
    if (flock(fd, LOCK_EX | LOCK_NB) < 0)
        return err_set(e, -EBUSY, ERR_PERMANENT,
                       "another API server runs on '%s'; stop it first, or use another --state",
                       p->dir);
    witness_sweep(WITNESS_DIR, clock_wall_us() / 1000000);
    *ret_fd = TAKE_FD(fd);
    return 0;
}

/* The certificates are made after the database: where they are, there was one. */
int store_place_refuse_emptied(const struct store_place *p, struct err *e)
{
    AUTO(free) char *used = xasprintf("%s/pki/ca.crt", p->dir);

    if (file_exists(p->options.path) || file_exists(p->options.mark) || !file_exists(used))
        return 0;
    return err_set(e, -EBADMSG, ERR_PERMANENT,
                   "'%s' is missing, though this state directory has been in use: bring a backup "
                   "back with 'slurmkeeper restore FILE', or begin with no objects by 'slurmkeeper "
                   "recover --accept-loss'",
                   p->options.path);
}
