/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sets of configuration files.
 *
 * A set comes from a push (JSON), from the mounted directory or from the agent's own record, and is
 * the unit of everything here: it is validated, written, applied and rolled back as a whole.  Its
 * hash tells whether two of them are the same declaration; modes stay out of it, since the kubelet
 * gives mounted files modes of its own.
 *
 * Names are plain file names: nothing that comes over the network can reach outside of the live
 * directory, nor the agent's record in it, whose name begins with a dot.
 */
#include "src/agent/fileset.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "src/base/alloc.h"
#include "src/base/file.h"
#include "src/slurm/keyfiles.h"

static void file_done(struct fileset_file *f)
{
    free(f->name);
    if (f->text)
        explicit_bzero(f->text, f->n);
    free(f->text);
}

void fileset_done(struct fileset *s)
{
    for (size_t i = 0; i < s->n; i++)
        file_done(&s->files[i]);
    free(s->files);
    *s = (struct fileset){0};
}

void fileset_copy(const struct fileset *from, struct fileset *to)
{
    *to = (struct fileset){.n = from->n, .cap = from->n, .total_bytes = from->total_bytes};
    to->files = xcalloc(from->n + 1, sizeof(*to->files));
    for (size_t i = 0; i < from->n; i++) {
        to->files[i] = from->files[i];
        to->files[i].name = xstrdup(from->files[i].name);
        to->files[i].text = xmemdup(from->files[i].text, from->files[i].n + 1);
    }
}

/* Where the name is or belongs. */
static size_t place_of(const struct fileset *s, const char *name, bool *ret_found)
{
    size_t low = 0;
    size_t high = s->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(s->files[middle].name, name);

        if (order == 0) {
            *ret_found = true;
            return middle;
        }
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *ret_found = false;
    return low;
}

static int name_check(const char *name, struct err *e)
{
    size_t n = strlen(name);

    if (n == 0 || n > 253 || name[0] == '.' || strchr(name, '/'))
        return err_bad(e, "'%.64s' is not the name of a configuration file", name);
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)name[i] < ' ' || name[i] == 0x7f)
            return err_bad(e, "the name of a file has a control character");
    return 0;
}

int fileset_put(struct fileset *s, const char *name, struct str text, mode_t mode, struct err *e)
{
    bool found;
    size_t at = place_of(s, name, &found);
    size_t old = found ? s->files[at].n : 0;
    int r = name_check(name, e);

    if (r < 0)
        return r;
    if (text.n > FILESET_MAX_BYTES || s->total_bytes - old + text.n > FILESET_MAX_BYTES)
        return err_set(e, -EFBIG, ERR_PERMANENT, "'%s': the files have more than %zu MiB together",
                       name, FILESET_MAX_BYTES >> 20);
    if (!found && s->n >= FILESET_MAX_FILES)
        return err_set(e, -EFBIG, ERR_PERMANENT, "there are more than %d files", FILESET_MAX_FILES);
    if (found) {
        file_done(&s->files[at]);
    } else {
        array_reserve(&s->files, &s->cap, s->n + 1, sizeof(*s->files));
        memmove(&s->files[at + 1], &s->files[at], (s->n - at) * sizeof(*s->files));
        s->n++;
    }
    s->files[at] = (struct fileset_file){.name = xstrdup(name),
                                         .text = str_dup(text),
                                         .n = text.n,
                                         .mode = mode,
                                         .uid = (uid_t)-1,
                                         .gid = (gid_t)-1};
    s->total_bytes += text.n - old;
    return 0;
}

const struct fileset_file *fileset_get(const struct fileset *s, const char *name)
{
    bool found;
    size_t at = place_of(s, name, &found);

    return found ? &s->files[at] : NULL;
}

bool fileset_is_key(const char *name)
{
    return keyfile_is_secret(name);
}

void fileset_split_keys(struct fileset *from, struct fileset *keys)
{
    size_t kept = 0;

    *keys = (struct fileset){0};
    for (size_t i = 0; i < from->n; i++) {
        struct fileset_file *f = &from->files[i];

        if (!fileset_is_key(f->name)) {
            from->files[kept++] = *f;
            continue;
        }
        array_reserve(&keys->files, &keys->cap, keys->n + 1, sizeof(*keys->files));
        keys->files[keys->n++] = *f;
        keys->total_bytes += f->n;
        from->total_bytes -= f->n;
    }
    from->n = kept;
}

void fileset_open_modes(struct fileset *s)
{
    for (size_t i = 0; i < s->n; i++)
        s->files[i].mode = s->files[i].mode & 0111 ? 0755 : FILESET_MODE;
}

static int read_one(int dir_fd, const char *dir, const char *name, struct fileset *ret,
                    struct err *e)
{
    AUTO(free) char *path = xasprintf("%s/%s", dir, name);
    AUTO(free) char *text = NULL;
    struct stat st;
    size_t n = 0;
    bool found;
    size_t at;
    int r;

    if (fstatat(dir_fd, name, &st, 0) < 0)
        return errno == ENOENT ? 0 : err_errno(e, errno, "cannot look at '%s'", path);
    if (!S_ISREG(st.st_mode))
        return 0;
    r = file_read(path, FILESET_MAX_BYTES, &text, &n, e);
    if (r == 0)
        r = fileset_put(ret, name, (struct str){text, n}, st.st_mode & 07777, e);
    if (text)
        explicit_bzero(text, n);
    if (r < 0)
        return r;
    at = place_of(ret, name, &found);
    ret->files[at].uid = st.st_uid;
    ret->files[at].gid = st.st_gid;
    return 0;
}

int fileset_read(const char *dir, struct fileset *ret, struct err *e)
{
    AUTO(fileset_done) struct fileset set = {0};
    DIR *d = opendir(dir);
    struct dirent *entry;
    int r = 0;

    if (!d)
        return err_errno(e, errno, "cannot read the directory '%s'", dir);
    while (r == 0 && (entry = readdir(d)))
        if (entry->d_name[0] != '.')
            r = read_one(dirfd(d), dir, entry->d_name, &set, e);
    (void)closedir(d);
    if (r < 0)
        return r;
    *ret = set;
    set = (struct fileset){0};
    return 0;
}

void fileset_hash_within(const struct fileset *s, const struct fileset *names,
                         char ret_hex[SHA256_HEX_LEN + 1])
{
    AUTO(buf_done) struct buf all = {0};

    for (size_t i = 0; i < s->n; i++) {
        if (names && !fileset_get(names, s->files[i].name))
            continue;
        buf_adds(&all, s->files[i].name);
        buf_addc(&all, '\0');
        buf_printf(&all, "%zu", s->files[i].n);
        buf_addc(&all, '\0');
        buf_add(&all, s->files[i].text, s->files[i].n);
    }
    hash_sha256_hex(buf_view(&all), ret_hex);
}

void fileset_hash(const struct fileset *s, char ret_hex[SHA256_HEX_LEN + 1])
{
    fileset_hash_within(s, NULL, ret_hex);
}

bool fileset_file_same(const struct fileset_file *a, const struct fileset_file *b)
{
    return a && b && a->mode == b->mode && a->n == b->n && memcmp(a->text, b->text, a->n) == 0;
}

bool fileset_same(const struct fileset *a, const struct fileset *b)
{
    if (a->n != b->n)
        return false;
    for (size_t i = 0; i < a->n; i++)
        if (!streq(a->files[i].name, b->files[i].name) ||
            !fileset_file_same(&a->files[i], &b->files[i]))
            return false;
    return true;
}

static int decode_one(const struct jsn_member *m, const struct jsn *modes, struct fileset *ret,
                      struct err *e)
{
    int64_t mode = FILESET_MODE;
    const struct jsn *given = jsn_member(modes, m->key);
    struct str text;

    if (!jsn_is(m->value, JSN_STRING))
        return err_bad(e, "files.%s: is not a text", m->key.p);
    if (strlen(m->key.p) != m->key.n)
        return err_bad(e, "files: a name holds a NUL");
    if (fileset_is_key(m->key.p))
        return err_bad(e, "files.%s: keys come from Secrets and are not pushed", m->key.p);
    if (given) {
        mode = jsn_is(given, JSN_INT) ? given->i : -1;
        if (mode < 0 || mode > 0777)
            return err_bad(e, "modes.%s: is not a file mode from 0 to 511", m->key.p);
    }
    text = m->value->s;
    return fileset_put(ret, m->key.p, text, (mode_t)mode, e);
}

int fileset_decode(const struct jsn *v, struct fileset *ret, struct err *e)
{
    AUTO(fileset_done) struct fileset set = {0};
    const struct jsn *files = jsn_key(v, "files");

    if (!jsn_is(files, JSN_OBJECT))
        return err_bad(e, "files: is missing or not an object of texts");
    JSN_FOR_MEMBERS (m, files) {
        int r = decode_one(m, jsn_key(v, "modes"), &set, e);

        if (r < 0)
            return r;
    }
    *ret = set;
    set = (struct fileset){0};
    return 0;
}
