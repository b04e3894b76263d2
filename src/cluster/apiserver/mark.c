/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The mark.
 *
 * SQLite cannot tell that something is missing: a WAL that is damaged in its middle is read up to
 * there, one that is gone is taken for an empty one, and a database that is gone is made again.  So
 * a small file beside the database says how far acknowledged writes went: the store's id, the
 * version of the newest one, and a checksum chained over all of them.
 *
 *   commit:  WAL written, fdatasync --> mark written --> answers leave
 *
 * The mark never says more than the disk has, since it is written after the commit is durable.  It
 * is written before the answers leave, so what a client was told is in it.  The write only goes to
 * the page cache, which outlives every process; once a second it also goes to the disk.  So after
 * a crash of ours any loss is found, and after a power cut any loss but that of the last second
 * (or of what the kernel had not yet written back, 30 s at most, after the very last commit).
 *
 * The file has two slots of a sector each, which take turns; each has a checksum.  A torn write
 * damages one of them, and the other one is the mark of the commit before it.
 *
 *   found at a start          database              then
 *   no mark, or version 0     none                  a new store
 *   version > 0, or damaged   none                  refused: the database is gone
 *   none, or damaged          of an old format      converted; it gets a mark
 *   none, or damaged          of this format        refused: nobody can tell whether all is there
 *   whole                     STANDING_WHOLE        served
 *   whole                     anything else         refused: writes are missing, or not the same
 *
 * Refused means that no file was changed; a person decides (`slurmkeeper restore`, `recover`).
 */
#include "src/cluster/apiserver/mark.h"

#include <fcntl.h>
#include <stdio.h>
#include <zlib.h>

#include "src/base/alloc.h"
#include "src/base/clock.h"
#include "src/base/str.h"

#define SLOT_BYTES 512
#define SLOTS 2
#define SYNC_MS 1000

static const char magic[8] = "SKMARK1";

/* In the machine's own byte order: a mark does not travel. */
struct slot {
    char magic[sizeof(magic)];
    uint64_t turn; /* the higher one counts */
    struct mark_point point;
    uint32_t sum; /* of all before it */
};

struct mark {
    char *path;
    int fd;
    uint64_t turn;
    int64_t synced_ms;
};

static uint32_t sum_of(const struct slot *s)
{
    return (uint32_t)crc32_z(0, (const unsigned char *)s, offsetof(struct slot, sum));
}

static bool is_whole(const struct slot *s)
{
    return memcmp(s->magic, magic, sizeof(magic)) == 0 && s->sum == sum_of(s) &&
           memchr(s->point.id, '\0', sizeof(s->point.id));
}

/* The whole slot with the higher turn. */
static bool newest(int fd, struct slot *ret)
{
    bool found = false;

    for (off_t i = 0; i < SLOTS; i++) {
        struct slot s;

        if (pread(fd, &s, sizeof(s), i * SLOT_BYTES) != (ssize_t)sizeof(s) || !is_whole(&s) ||
            (found && s.turn < ret->turn))
            continue;
        *ret = s;
        found = true;
    }
    return found;
}

int mark_read(const char *path, enum mark_found *ret_found, struct mark_point *ret_point,
              struct err *e)
{
    AUTO(close) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    struct slot s;

    if (fd < 0 && errno != ENOENT)
        return err_errno(e, errno, "cannot open '%s'", path);
    *ret_found = fd < 0 ? MARK_NONE : newest(fd, &s) ? MARK_WHOLE : MARK_DAMAGED;
    if (*ret_found == MARK_WHOLE)
        *ret_point = s.point;
    return 0;
}

static int write_slot(struct mark *m, const struct mark_point *p, struct err *e)
{
    union {
        struct slot slot;
        char bytes[SLOT_BYTES];
    } u;

    memset(&u, 0, sizeof(u));
    memcpy(u.slot.magic, magic, sizeof(magic));
    u.slot.turn = m->turn + 1;
    memcpy(u.slot.point.id, p->id, strnlen(p->id, sizeof(p->id) - 1));
    u.slot.point.version = p->version;
    u.slot.point.chain = p->chain;
    u.slot.sum = sum_of(&u.slot);
    if (pwrite(m->fd, u.bytes, SLOT_BYTES, (off_t)(u.slot.turn % SLOTS) * SLOT_BYTES) != SLOT_BYTES)
        return err_errno(e, errno ? errno : EIO, "cannot write '%s'", m->path);
    m->turn++;
    return 0;
}

static int sync_mark(struct mark *m, struct err *e)
{
    m->synced_ms = clock_mono_ms();
    return fdatasync(m->fd) < 0 ? err_errno(e, errno, "cannot write '%s'", m->path) : 0;
}

int mark_open(const char *path, const struct mark_point *p, struct mark **ret_mark, struct err *e)
{
    AUTO(mark_free) struct mark *m = xcalloc(1, sizeof(*m));
    struct slot s;
    int r = 0;

    m->path = xstrdup(path);
    m->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (m->fd < 0 || posix_fallocate(m->fd, 0, (off_t)SLOTS * SLOT_BYTES) != 0)
        return err_errno(e, errno ? errno : ENOSPC, "cannot write '%s'", path);
    if (newest(m->fd, &s))
        m->turn = s.turn;
    for (int i = 0; r == 0 && i < SLOTS; i++)
        r = write_slot(m, p, e);
    if (r == 0)
        r = sync_mark(m, e);
    if (r == 0)
        *ret_mark = TAKE(m);
    return r;
}

struct mark *mark_free(struct mark *m)
{
    if (!m)
        return NULL;
    if (m->fd >= 0) {
        (void)fdatasync(m->fd);
        (void)close(m->fd);
    }
    free(m->path);
    free(m);
    return NULL;
}

int mark_set(struct mark *m, const struct mark_point *p, struct err *e)
{
    int r = write_slot(m, p, e);

    if (r == 0 && clock_mono_ms() - m->synced_ms >= SYNC_MS)
        r = sync_mark(m, e);
    return r;
}

enum mark_standing mark_judge(const struct mark_point *mark, const struct mark_point *store,
                              const int64_t *chain_there)
{
    if (!streq(mark->id, store->id))
        return STANDING_OTHER;
    if (store->version < mark->version)
        return STANDING_SHORT;
    return chain_there && *chain_there != mark->chain ? STANDING_FORK : STANDING_WHOLE;
}
