/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hostPath volumes.
 *
 * Without a type nothing is checked, and a missing path becomes a directory, as container runtimes
 * make it.  DirectoryOrCreate and FileOrCreate make what is missing; the other types only accept
 * what is there and of that kind.
 */
#include "src/cluster/node/volumes/hostpath.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "src/base/alloc.h"
#include "src/base/file.h"
#include "src/cluster/node/runtime/shares.h"
#include "src/cluster/node/volumes/subpath.h"

static int make_file(const char *path, struct err *e)
{
    AUTO(free) char *parent = str_dup((struct str){path, (size_t)(strrchr(path, '/') - path)});
    AUTO(close) int fd = -1;
    int r = parent[0] ? file_make_dirs(parent, 0755, e) : 0;

    if (r < 0)
        return r;
    fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0 || fchmod(fd, 0644) < 0)
        return err_errno(e, errno, "cannot make the file '%s'", path);
    return 0;
}

static bool is_of_type(const char *type, mode_t mode)
{
    if (streq(type, "Directory") || streq(type, "DirectoryOrCreate"))
        return S_ISDIR(mode);
    if (streq(type, "File") || streq(type, "FileOrCreate"))
        return S_ISREG(mode);
    if (streq(type, "Socket"))
        return S_ISSOCK(mode);
    if (streq(type, "CharDevice"))
        return S_ISCHR(mode);
    if (streq(type, "BlockDevice"))
        return S_ISBLK(mode);
    return true;
}

static int make(const char *path, char *const *shares, bool is_file, struct err *e)
{
    size_t n = shares_above(shares, path);
    AUTO(free) char *share = str_dup((struct str){path, n});
    int r;

    if (n == 0)
        return is_file ? make_file(path, e) : file_make_dirs(path, 0755, e);
    r = subpath_make(share, path + n + strspn(path + n, "/"), is_file, e);
    return r < 0 ? err_wrap(e, r, "'%s' lies in '%s', which jobs may write", path, share) : 0;
}

int hostpath_check(const struct jsn *host_path, char *const *shares, struct err *e)
{
    const char *path = jsn_get_str(host_path, "path");
    const char *type = jsn_get_str(host_path, "type");
    struct stat st;
    int r;

    if (!path || path[0] != '/' || strstr(path, ".."))
        return err_bad(e, "hostPath '%s' is not an absolute path", path ? path : "");
    r = shares_above(shares, path) ? 0 : shares_keep_out(shares, path, e);
    if (r < 0)
        return r;
    if (!type)
        type = "";
    if (stat(path, &st) == 0) {
        if (!is_of_type(type, st.st_mode))
            return err_set(e, -EINVAL, ERR_RETRY, "hostPath type check failed: %s is not a %s",
                           path, type);
        return 0;
    }
    if (streq(type, "FileOrCreate"))
        return make(path, shares, true, e);
    if (!type[0] || streq(type, "DirectoryOrCreate"))
        return make(path, shares, false, e);
    return err_set(e, -ENOENT, ERR_RETRY, "hostPath type check failed: %s is not there", path);
}
