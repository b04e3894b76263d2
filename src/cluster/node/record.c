/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records of running things.
 *
 * A process may die at any instruction, and then the file is the old one or the new one; only a
 * power cut can leave it empty, and after that nothing runs that it could tell of.  So nothing
 * waits for the disk here.
 */
#include "src/cluster/node/record.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "src/base/alloc.h"
#include "src/base/file.h"

int record_write(const char *path, struct str content, mode_t mode, struct err *e)
{
    AUTO(free) char *other = xasprintf("%s.new", path);
    AUTO(close) int fd = open(other, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    int r;

    if (fd < 0 || fchmod(fd, mode) < 0)
        return err_errno(e, errno, "cannot write '%s'", other);
    r = file_write_all(fd, content);
    if (r < 0) {
        (void)unlink(other);
        return err_errno(e, -r, "cannot write '%s'", other);
    }
    if (rename(other, path) < 0)
        return err_errno(e, errno, "cannot replace '%s'", path);
    return 0;
}
