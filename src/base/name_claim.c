/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of clusters on this machine, each held by one state directory.
 *
 * The bridge, the control groups and the rules of a cluster are found by its name.  Were there two
 * of one name, ending one would end the pods of the other.  So whoever runs pods first writes the
 * path of its state directory into DIR/NAME.name.  The directory is lost at a boot, as pods are.
 * A claim counts as long as the state directory that made it is there.  The directory itself is
 * the lock.
 */
#include "src/base/name_claim.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include "src/base/alloc.h"
#include "src/base/file.h"
#include "src/base/str.h"

static int lock(const char *dir, int *ret_fd, struct err *e)
{
    AUTO(close) int fd = -1;
    int r = file_private_dir(dir, e);

    if (r < 0)
        return r;
    fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || flock(fd, LOCK_EX) < 0)
        return err_errno(e, errno, "cannot lock '%s'", dir);
    *ret_fd = TAKE_FD(fd);
    return 0;
}

/* Who has it; NULL: nobody, or one who is gone. */
static int find_owner(const char *path, char **ret_owner, struct err *e)
{
    AUTO(free) char *owner = NULL;
    size_t n;
    int r = file_read(path, PATH_MAX, &owner, &n, e);

    if (r == -ENOENT || (r == 0 && !file_exists(owner)))
        return 0;
    if (r == 0)
        *ret_owner = TAKE(owner);
    return r;
}

int name_claim_take(const char *dir, const char *name, const char *state, struct err *e)
{
    AUTO(free) char *path = xasprintf("%s/%s.name", dir, name);
    AUTO(free) char *self = realpath(state, NULL);
    AUTO(free) char *owner = NULL;
    AUTO(close) int held = -1;
    int r;

    if (!self)
        return err_errno(e, errno, "state directory '%s'", state);
    r = lock(dir, &held, e);
    if (r == 0)
        r = find_owner(path, &owner, e);
    if (r < 0 || (owner && streq(owner, self)))
        return r;
    if (owner)
        return err_set(e, -EBUSY, ERR_PERMANENT,
                       "the cluster in '%s' is called '%s', too: give this one another name "
                       "(--name), or take that one down ('slurmkeeper down --state %s')",
                       owner, name, owner);
    return file_write(path, str_of(self), 0600, e);
}

bool name_claim_is_anothers(const char *dir, const char *name, const char *state)
{
    AUTO(free) char *path = xasprintf("%s/%s.name", dir, name);
    AUTO(free) char *self = realpath(state, NULL);
    AUTO(free) char *owner = NULL;

    if (find_owner(path, &owner, NULL) < 0)
        return true;
    return owner && (!self || !streq(owner, self));
}

void name_claim_release(const char *dir, const char *name, const char *state)
{
    AUTO(free) char *path = xasprintf("%s/%s.name", dir, name);
    AUTO(close) int held = -1;

    if (lock(dir, &held, NULL) == 0 && !name_claim_is_anothers(dir, name, state))
        (void)unlink(path);
}
