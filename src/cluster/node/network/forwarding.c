/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Forwarding is one switch for the whole machine, and several clusters may need it.
 *
 * Whoever finds it off turns it on and makes a record; without a record it was on already, and is
 * nobody's to turn off.  The record has a line for each bridge of ours ("+sk-a") and for each
 * bridge of others that was there when it was made ("-docker0").  It lives in /run and so does not
 * outlive the switch.
 *
 * Who turns on what is on leaves no trace: that someone else has come to rely on it shows, if at
 * all, in a bridge that was not there before.
 */
#include "src/cluster/node/network/forwarding.h"

#include <dirent.h>
#include <fcntl.h>

#include "src/base/alloc.h"
#include "src/base/buf.h"
#include "src/base/file.h"
#include "src/base/log.h"

#define RECORD_MAX_BYTES 65536

static bool is_on(const struct forwarding *f)
{
    AUTO(free) char *text = NULL;
    size_t n;

    return file_read(f->setting, 16, &text, &n, NULL) == 0 && str_eqz(str_trim(str_of(text)), "1");
}

/* A setting of the kernel cannot be replaced as files are. */
static void turn(const struct forwarding *f, const char *value)
{
    int fd = open(f->setting, O_WRONLY | O_CLOEXEC);

    if (fd < 0 || file_write_all(fd, str_of(value)) < 0)
        log_warn("cannot write %s to '%s': %m", value, f->setting);
    if (fd >= 0)
        (void)close(fd);
}

static bool has_line(const char *record, char sign, const char *name)
{
    struct str rest = str_of(record);
    struct str line;

    while (str_split(&rest, '\n', &line))
        if (line.n > 1 && line.p[0] == sign && str_eqz((struct str){line.p + 1, line.n - 1}, name))
            return true;
    return false;
}

static bool is_bridge(const struct forwarding *f, const char *name)
{
    AUTO(free) char *path = xasprintf("%s/%s/bridge", f->interfaces, name);

    return file_exists(path);
}

/* Calls fn with each bridge of this machine until it answers true; was that so? */
static bool any_bridge(const struct forwarding *f, bool (*fn)(void *arg, const char *name),
                       void *arg)
{
    DIR *dir = opendir(f->interfaces);
    const struct dirent *entry;
    bool found = false;

    while (dir && !found && (entry = readdir(dir)))
        found = entry->d_name[0] != '.' && is_bridge(f, entry->d_name) && fn(arg, entry->d_name);
    if (dir)
        (void)closedir(dir);
    return found;
}

struct others {
    struct buf *text;
    const char *except;
};

static bool note_bridge(void *arg, const char *name)
{
    const struct others *o = arg;

    if (!streq(name, o->except))
        buf_printf(o->text, "-%s\n", name);
    return false;
}

static bool is_new(void *arg, const char *name)
{
    return !has_line(arg, '-', name);
}

static void record_write(const struct forwarding *f, const struct buf *text)
{
    struct err e = {0};

    if (file_write(f->record, buf_view(text), 0600, &e) < 0)
        log_warn("forwarding will stay on: %s", e.text);
}

void forwarding_begin(const struct forwarding *f, const char *bridge)
{
    AUTO(free) char *record = NULL;
    AUTO(buf_done) struct buf text = {0};
    bool was_on = is_on(f);
    size_t n;

    if (file_read(f->record, RECORD_MAX_BYTES, &record, &n, NULL) == 0)
        buf_adds(&text, record);
    else if (!was_on)
        (void)any_bridge(f, note_bridge, &(struct others){&text, bridge});
    else
        return;
    if (!record || !has_line(record, '+', bridge)) {
        buf_printf(&text, "+%s\n", bridge);
        record_write(f, &text);
    }
    if (!was_on)
        turn(f, "1");
}

/* What stays of the record: bridges of ours that are there, and those of others. */
static bool still_used(const struct forwarding *f, const char *record, const char *bridge,
                       struct buf *ret)
{
    struct str rest = str_of(record);
    struct str line;
    bool used = false;

    while (str_split(&rest, '\n', &line)) {
        AUTO(free) char *name = line.n > 1 ? strndup(line.p + 1, line.n - 1) : NULL;

        if (!name || (line.p[0] == '+' && (streq(name, bridge) || !is_bridge(f, name))))
            continue;
        used = used || line.p[0] == '+';
        buf_printf(ret, STR_FMT "\n", STR_ARG(line));
    }
    return used;
}

void forwarding_end(const struct forwarding *f, const char *bridge)
{
    AUTO(free) char *record = NULL;
    AUTO(buf_done) struct buf text = {0};
    size_t n;

    if (file_read(f->record, RECORD_MAX_BYTES, &record, &n, NULL) < 0)
        return;
    if (still_used(f, record, bridge, &text)) {
        record_write(f, &text);
        return;
    }
    (void)unlink(f->record);
    if (!is_on(f))
        return;
    if (any_bridge(f, is_new, record))
        log_info("forwarding stays on: others have made bridges since it was turned on");
    else
        turn(f, "0");
}
