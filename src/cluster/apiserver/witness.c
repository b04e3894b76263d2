/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Second marks of state directories.
 *
 *   DIR/ID.mark    how far acknowledged writes went (mark.c writes it)
 *   DIR/ID.state   a symbolic link to the state directory
 *
 * ID is made of the state directory's path.  Directories that are removed by hand leave both
 * behind; the link tells whose they are.  A mark without a link is of an older release, and stays
 * until the machine is started again.
 */
#include "src/cluster/apiserver/witness.h"

#include <dirent.h>
#include <sys/stat.h>

#include "src/base/alloc.h"
#include "src/base/file.h"
#include "src/base/hash.h"

#define DAY_S 86400

static char *path_of(const char *dir, const char *real, const char *what)
{
    char hex[SHA256_HEX_LEN + 1];

    hash_sha256_hex(str_of(real), hex);
    return xasprintf("%s/%.16s.%s", dir, hex, what);
}

char *witness_place(const char *dir, const char *state)
{
    AUTO(free) char *real = realpath(state, NULL);
    AUTO(free) char *link = NULL;

    if (!real || file_make_dirs(dir, 0700, NULL) < 0)
        return NULL;
    link = path_of(dir, real, "state");
    (void)!symlink(real, link); /* most often it is there */
    return path_of(dir, real, "mark");
}

void witness_forget(const char *dir, const char *state)
{
    AUTO(free) char *real = realpath(state, NULL);
    AUTO(free) char *link = real ? path_of(dir, real, "state") : NULL;
    AUTO(free) char *mark = real ? path_of(dir, real, "mark") : NULL;

    if (!real)
        return;
    (void)unlink(mark);
    (void)unlink(link);
}

static bool is_old(const char *path, int64_t now_s)
{
    struct stat st;

    return lstat(path, &st) < 0 || st.st_mtim.tv_sec + DAY_S < now_s;
}

/* stat follows the link: only "there is no such directory" counts. */
static void look_at(const char *link, int64_t now_s)
{
    AUTO(free) char *mark = xasprintf("%.*s.mark", (int)(strlen(link) - strlen(".state")), link);
    struct stat st;

    if (stat(link, &st) == 0 || errno != ENOENT || !is_old(mark, now_s) || !is_old(link, now_s))
        return;
    (void)unlink(mark);
    (void)unlink(link);
}

void witness_sweep(const char *dir, int64_t now_s)
{
    DIR *d = opendir(dir);
    struct dirent *entry;

    while (d && (entry = readdir(d))) {
        AUTO(free) char *path = xasprintf("%s/%s", dir, entry->d_name);

        if (ends_with(entry->d_name, ".state"))
            look_at(path, now_s);
    }
    if (d)
        (void)closedir(d);
}
