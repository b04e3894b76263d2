/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The Slurms that pods of a cluster may run.
 *
 * While a cluster goes from one Slurm to another its pods run two.  Only root names them (`up
 * --slurm`): a pod gets the prefix as a mount.  One prefix has one line, with the release that it
 * had when it was named last.
 */
#include "src/local/slurms.h"

#include "src/base/alloc.h"
#include "src/base/buf.h"
#include "src/base/file.h"
#include "src/slurm/profile.h"

#define MAX_BYTES ((size_t)64 << 10)

static bool is_there(struct str prefix)
{
    AUTO(free)
    char *path = xasprintf(STR_FMT "/sbin/slurmctld", STR_ARG(prefix));

    return access(path, X_OK) == 0;
}

int slurms_note(const char *state, const struct install *i, struct err *e)
{
    AUTO(free) char *path = xasprintf("%s/slurms", state);
    AUTO(free) char *text = NULL;
    AUTO(buf_done) struct buf b = {0};
    char release[RELEASE_TEXT_LEN];
    struct str rest = {0};
    struct str line;
    size_t n = 0;
    bool changed;
    int r = file_read(path, MAX_BYTES, &text, &n, e);

    if (r < 0 && r != -ENOENT)
        return r;
    if (r == 0)
        rest = (struct str){text, n};
    while (str_split(&rest, '\n', &line)) {
        struct str prefix = line;
        struct str word;

        if (str_split(&prefix, ' ', &word) && prefix.n && !str_eqz(prefix, i->prefix) &&
            is_there(prefix))
            buf_printf(&b, STR_FMT "\n", STR_ARG(line));
    }
    release_text(i->release, release);
    buf_printf(&b, "%s %s\n", release, i->prefix);
    return file_update(path, buf_view(&b), 0600, &changed, e);
}
