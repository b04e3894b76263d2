/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Can this machine's Slurm answer HTTP?
 *
 * Its daemons load a plugin for that, which may be missing, or lack the library that it needs.  The
 * plugins lie beside the library that slurmctld is linked with; the dynamic linker tells where that
 * is, and whether a plugin could be loaded.  What cannot be found out counts as no.
 */
#include "src/local/host.h"

#include <dirent.h>

#include "src/base/alloc.h"
#include "src/local/command.h"

#define LDD_MS 5000

static char *linked_with(const char *file)
{
    char *text = NULL;

    return command_output((const char *const[]){"ldd", file, NULL}, NULL, LDD_MS, &text, NULL) == 0
               ? text
               : NULL;
}

/* "libslurmfull.so => /usr/lib/slurm/libslurmfull.so (0x...)": the directory, owned; or NULL. */
static char *plugin_dir(const char *slurmctld)
{
    AUTO(free) char *text = linked_with(slurmctld);
    const char *at = text ? strstr(text, "libslurmfull.so => /") : NULL;
    const char *end = at ? strstr(at, "/libslurmfull.so") : NULL;

    if (!end)
        return NULL;
    at += strlen("libslurmfull.so => ");
    return str_dup((struct str){at, (size_t)(end - at)});
}

bool host_parses_http(const char *slurmctld)
{
    AUTO(free) char *dir = plugin_dir(slurmctld);
    DIR *d = dir ? opendir(dir) : NULL;
    const struct dirent *entry;
    bool found = false;

    while (d && !found && (entry = readdir(d))) {
        AUTO(free) char *path = xasprintf("%s/%s", dir, entry->d_name);
        AUTO(free) char *text = NULL;

        if (!starts_with(entry->d_name, "http_parser_") || !ends_with(path, ".so"))
            continue;
        text = linked_with(path);
        found = text && !strstr(text, "not found");
    }
    if (d)
        (void)closedir(d);
    return found;
}
