/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * /proc/self/mountinfo: who is mounted where.
 *
 * Paths there have blanks and backslashes as octal escapes; they are undone here.
 */
#include "src/cluster/node/mounts.h"

#include <sys/mount.h>

#include "src/base/alloc.h"
#include "src/base/buf.h"
#include "src/base/file.h"

#define MAX_TABLE ((size_t)16 << 20)

static bool is_octal(char c)
{
    return c >= '0' && c <= '7';
}

static void unescape(struct str s, struct buf *b)
{
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '\\' && i + 3 < s.n && is_octal(s.p[i + 1]) && is_octal(s.p[i + 2]) &&
            is_octal(s.p[i + 3])) {
            buf_addc(b,
                     (char)((s.p[i + 1] - '0') * 64 + (s.p[i + 2] - '0') * 8 + s.p[i + 3] - '0'));
            i += 3;
        } else {
            buf_addc(b, s.p[i]);
        }
    }
}

/* "36 35 98:0 /root /mount options - type source super": fields 5 and the one after the dash. */
static bool parse_line(struct str line, struct buf *path, struct buf *type)
{
    struct str field;
    int n = 0;
    bool behind = false;

    while (str_split(&line, ' ', &field)) {
        if (++n == 5)
            unescape(field, path);
        if (behind) {
            buf_addstr(type, field);
            return path->n > 0;
        }
        behind = n > 5 && str_eqz(field, "-");
    }
    return false;
}

int mounts_each_in(const char *table, mounts_fn fn, void *arg, struct err *e)
{
    AUTO(free) char *text = NULL;
    struct str rest, line;
    size_t n;
    int r = file_read(table, MAX_TABLE, &text, &n, e);

    if (r < 0)
        return r;
    rest = (struct str){text, n};
    while (str_split(&rest, '\n', &line)) {
        AUTO(buf_done) struct buf path = {0};
        AUTO(buf_done) struct buf type = {0};

        if (parse_line(line, &path, &type) && !fn(arg, buf_str(&path), buf_str(&type)))
            break;
    }
    return 0;
}

int mounts_each(mounts_fn fn, void *arg, struct err *e)
{
    return mounts_each_in("/proc/self/mountinfo", fn, arg, e);
}

struct search {
    const char *path;
    bool found;
};

static bool is_path(void *arg, const char *path, const char *fs_type)
{
    struct search *s = arg;

    (void)fs_type;
    s->found = s->found || streq(path, s->path);
    return !s->found;
}

bool mounts_is_one(const char *path)
{
    struct search s = {.path = path};

    return mounts_each(is_path, &s, NULL) == 0 && s.found;
}

struct collection {
    const char *dir;
    char **paths;
    size_t n;
    size_t cap;
};

static bool collect(void *arg, const char *path, const char *fs_type)
{
    struct collection *c = arg;
    size_t n = strlen(c->dir);

    (void)fs_type;
    if (strncmp(path, c->dir, n) == 0 && (path[n] == '/' || !path[n])) {
        array_reserve(&c->paths, &c->cap, c->n + 1, sizeof(*c->paths));
        c->paths[c->n++] = xstrdup(path);
    }
    return true;
}

void mounts_detach_below(const char *dir)
{
    struct collection c = {.dir = dir};

    (void)!mounts_each(collect, &c, NULL);
    for (size_t i = c.n; i-- > 0;) {
        (void)umount2(c.paths[i], MNT_DETACH | UMOUNT_NOFOLLOW);
        free(c.paths[i]);
    }
    free(c.paths);
}
