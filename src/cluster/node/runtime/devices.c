/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Devices.
 *
 * A privileged container has them all.  A confined one says `privileged` where others must, and has
 * none but those that it names: a device that it mounts from the machine (a GPU for Slurm's
 * generic resources, say) is one that its author means it to open.  The device file alone would be
 * of no use, since the device control group decides who opens it.
 */
#include "src/cluster/node/runtime/devices.h"

#include <dirent.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#define MAX_DEPTH 3

static void add(struct device_list *l, const char *path, const struct stat *st)
{
    arena_reserve(l->arena, &l->items, &l->cap, l->n + 1, sizeof(*l->items));
    l->items[l->n++] = (struct oci_device){path, S_ISBLK(st->st_mode), major(st->st_rdev),
                                           minor(st->st_rdev), st->st_mode & 0777};
}

static bool is_skipped(const char *path)
{
    static const char *const skipped[] = {"/dev/pts",  "/dev/shm", "/dev/mqueue", "/dev/console",
                                          "/dev/ptmx", "/dev/fd",  "/dev/.udev"};

    for (size_t i = 0; i < ARRAY_LEN(skipped); i++)
        if (streq(path, skipped[i]))
            return true;
    return false;
}

static void scan(struct device_list *l, const char *dir, int depth)
{
    DIR *d = opendir(dir);
    struct dirent *entry;

    while (d && (entry = readdir(d))) {
        const char *path = arena_printf(l->arena, "%s/%s", dir, entry->d_name);
        struct stat st;

        if (entry->d_name[0] == '.' || is_skipped(path) || lstat(path, &st) < 0)
            continue;
        if (S_ISDIR(st.st_mode) && depth < MAX_DEPTH)
            scan(l, path, depth + 1);
        else if (S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode))
            add(l, path, &st);
    }
    if (d)
        (void)closedir(d);
}

void devices_of_machine(struct device_list *l)
{
    scan(l, "/dev", 0);
}

static void add_path(struct device_list *l, const char *path)
{
    struct stat st;

    if (!path || stat(path, &st) < 0)
        return;
    if (S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode))
        add(l, path, &st);
    else if (S_ISDIR(st.st_mode) && starts_with(path, "/dev/"))
        scan(l, path, 1);
}

void devices_of_mounts(struct device_list *l, const struct pod_spec *p, const struct ctr_spec *c)
{
    JSN_FOR_ITEMS (m, jsn_key(c->json, "volumeMounts"))
        JSN_FOR_ITEMS (v, jsn_get(p->json, "spec.volumes"))
            if (streq(jsn_get_str(v, "name"), jsn_get_str(m, "name")))
                add_path(l, jsn_get_str(v, "hostPath.path"));
}
