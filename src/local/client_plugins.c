/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plugstack.conf of the machine's Slurm commands.
 *
 * Our plugin (src/spank) tells who uses sbatch in a directory that the nodes do not share.  It is
 * optional for Slurm: commands go on where it cannot be loaded.  A plugin is loaded into every
 * user's commands, so it is a copy that only root writes; a file that is in use is never written
 * to, but replaced.
 */
#include "src/local/client_plugins.h"

#include <unistd.h>

#include "src/base/alloc.h"
#include "src/base/buf.h"
#include "src/base/file.h"

#define OURS "slurmkeeper-spank.so"
#define MAX_PLUGIN ((size_t)4 << 20)

/* Words of the file end at blanks. */
static bool is_word(const char *text)
{
    return text[strcspn(text, " \t\n\"'\\#")] == '\0';
}

static int copy_plugin(const char *from, const char *to, struct err *e)
{
    AUTO(free) char *text = NULL;
    bool changed;
    size_t n;
    int r = file_read(from, MAX_PLUGIN, &text, &n, e);

    return r < 0 ? r : file_update(to, (struct str){text, n}, 0644, &changed, e);
}

static void print_ours(const struct client_plugin *p, const char *file, struct buf *out)
{
    buf_printf(out, "optional %s", file);
    for (size_t i = 0; i < p->n_lists; i++)
        for (char *const *share = p->lists[i]; share && *share; share++)
            if (is_word(*share))
                buf_printf(out, " share=%s", *share);
    buf_addc(out, '\n');
}

int client_plugins_write(const struct client_plugin *p, const char *dir, struct str cluster,
                         struct err *e)
{
    AUTO(free) char *path = xasprintf("%s/plugstack.conf", dir);
    AUTO(free) char *ours = xasprintf("%s/" OURS, dir);
    AUTO(buf_done) struct buf text = {0};
    bool changed;
    int r = 0;

    buf_addstr(&text, cluster);
    if (p->file && is_word(ours)) {
        if (cluster.n && cluster.p[cluster.n - 1] != '\n')
            buf_addc(&text, '\n');
        r = copy_plugin(p->file, ours, e);
        print_ours(p, ours, &text);
    }
    if (r == 0 && text.n)
        return file_update(path, buf_view(&text), 0644, &changed, e);
    if (r == 0 && unlink(path) < 0 && errno != ENOENT)
        r = err_errno(e, errno, "cannot remove '%s'", path);
    return r;
}
