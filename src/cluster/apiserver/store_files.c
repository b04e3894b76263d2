/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The database's files, as the server opened them.
 *
 * Somebody may remove or exchange them while the server runs: a clean-up of the wrong directory, a
 * backup that is copied over.  SQLite goes on writing into the files that nobody can open any more,
 * and all that is acknowledged from then on would be gone at the next start.  So each commit looks
 * whether both names still lead to the files at hand; if not, it is refused, and nothing that was
 * acknowledged before is lost as long as the process lives.
 */
#include <sys/stat.h>

#include "src/base/alloc.h"
#include "src/cluster/apiserver/store_private.h"

void store_files_init(struct store *s, const char *path)
{
    s->files[0].path = xstrdup(path);
    s->files[1].path = xasprintf("%s-wal", path);
}

void store_files_done(struct store *s)
{
    for (size_t i = 0; i < ARRAY_LEN(s->files); i++)
        free(s->files[i].path);
}

static bool is_at_hand(struct store_file *f)
{
    struct stat st;
    bool there = stat(f->path, &st) == 0;

    if (!f->seen && there) {
        f->seen = true;
        f->device = st.st_dev;
        f->number = st.st_ino;
    }
    return !f->seen || (there && f->device == st.st_dev && f->number == st.st_ino);
}

int store_files_check(struct store *s, struct err *e)
{
    for (size_t i = 0; i < ARRAY_LEN(s->files); i++)
        if (!is_at_hand(&s->files[i]))
            return err_set(e, -ESTALE, ERR_PERMANENT,
                           "'%s' was removed or exchanged while the server runs, and what is "
                           "written now would be lost: save what is there ('slurmkeeper backup "
                           "FILE'), end the server and bring it back ('slurmkeeper restore FILE')",
                           s->files[i].path);
    return 0;
}
