/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Processes by number and start time.
 *
 * A number alone may mean another process by now; with the time it started, and the boot it started
 * in, it means one process for ever.  A pidfd is taken first and the time compared afterwards: so
 * the descriptor is of that process, or the comparison fails.
 */
#include "src/base/process.h"

#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>

#include "src/base/file.h"

uint64_t process_start_time(pid_t pid)
{
    AUTO(free) char *text = NULL;
    char path[64];
    struct str rest, field;
    size_t n;
    const char *paren;
    uint64_t ticks = 0;

    (void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    if (file_read(path, 8192, &text, &n, NULL) < 0)
        return 0;
    paren = strrchr(text, ')'); /* the name before it may hold anything */
    if (!paren || paren[1] != ' ')
        return 0;
    rest = str_of(paren + 2);
    for (int i = 3; str_split(&rest, ' ', &field); i++)
        if (i == 22)
            return str_to_u64(field, &ticks) == 0 ? ticks : 0;
    return 0;
}

const char *process_boot_id(void)
{
    static char id[64];
    AUTO(free) char *text = NULL;
    size_t n;

    if (!id[0] && file_read("/proc/sys/kernel/random/boot_id", 63, &text, &n, NULL) == 0)
        (void)snprintf(id, sizeof(id), STR_FMT, STR_ARG(str_trim((struct str){text, n})));
    return id;
}

int process_watch(pid_t pid, uint64_t start_time)
{
    int fd = pid > 0 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;

    if (fd >= 0 && process_start_time(pid) != start_time) {
        (void)close(fd);
        return -1;
    }
    return fd;
}

struct process_id process_identify(pid_t pid)
{
    struct process_id id = {.pid = pid, .start = process_start_time(pid)};

    if (id.start == 0)
        return (struct process_id){0};
    (void)snprintf(id.boot, sizeof(id.boot), "%s", process_boot_id());
    return id;
}

static bool of_this_boot(const struct process_id *id)
{
    return id->boot[0] && streq(id->boot, process_boot_id());
}

bool process_runs(const struct process_id *id)
{
    return id->pid > 0 && id->start > 0 && of_this_boot(id) &&
           process_start_time(id->pid) == id->start;
}

int process_signal(const struct process_id *id, int signo)
{
    AUTO(close)
    int fd =
        id->pid > 1 && id->start > 0 && of_this_boot(id) ? process_watch(id->pid, id->start) : -1;

    if (fd < 0)
        return -ESRCH;
    if (syscall(SYS_pidfd_send_signal, fd, signo, NULL, 0) < 0)
        return -errno;
    return 0;
}

void process_command(pid_t pid, size_t max, struct buf *out)
{
    AUTO(free) char *text = NULL;
    char path[64];
    size_t n = 0;

    (void)snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
    if (file_read(path, 1 << 20, &text, &n, NULL) < 0)
        return;
    while (n > 0 && text[n - 1] == '\0')
        n--;
    for (size_t i = 0; i < MIN(n, max); i++)
        buf_addc(out, (unsigned char)text[i] < 0x20 || text[i] == 0x7f ? ' ' : text[i]);
    if (n > max)
        buf_adds(out, "...");
}
