/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Commands in containers.
 *
 * The runtime reads what to run from a file; it gets one that lives in memory, so that a full disk
 * keeps nobody from looking into a pod.  The command is the runtime's child: who wants it gone
 * kills the children first, since they outlive their parent.
 */
#include "src/cluster/node/serve/exec_process.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>

#include "src/base/alloc.h"
#include "src/base/file.h"
#include "src/cluster/node/pods/worker.h"
#include "src/cluster/node/runtime/confine.h"
#include "src/cluster/node/runtime/oci_config.h"

#define MAX_CONFIG ((size_t)4 << 20)

int exec_process_open(const struct container *c, const struct jsn *command, bool tty, int *ret_fd,
                      struct err *e)
{
    AUTO(arena_done) struct arena a = {0};
    AUTO(free) char *path = xasprintf("%s/config.json", c->dir);
    AUTO(free) char *text = NULL;
    AUTO(buf_done) struct buf b = {0};
    AUTO(close) int fd = -1;
    struct jsn *config = NULL;
    size_t n = 0;
    int r = file_read(path, MAX_CONFIG, &text, &n, e);

    if (r == 0)
        r = jsn_parse(&a, (struct str){text, n}, NULL, &config, e);
    if (r < 0)
        return r;
    jsn_print(&b, oci_config_exec(&a, config, command, tty));
    fd = memfd_create("process", MFD_CLOEXEC);
    if (fd < 0)
        return err_errno(e, errno, "cannot make a file in memory");
    r = file_write_all(fd, buf_view(&b));
    if (r < 0)
        return err_errno(e, -r, "cannot write a file in memory");
    *ret_fd = TAKE_FD(fd);
    return 0;
}

/* /proc/PID/task/TID/children: numbers with blanks between. */
static void kill_children(const char *path)
{
    AUTO(free) char *text = NULL;
    struct str rest, word;
    int64_t pid;
    size_t n;

    if (file_read(path, 65536, &text, &n, NULL) < 0)
        return;
    rest = str_trim((struct str){text, n});
    while (rest.n && str_split(&rest, ' ', &word))
        if (str_to_i64(word, &pid) == 0 && pid > 1)
            (void)kill((pid_t)pid, SIGKILL);
}

void exec_process_kill(pid_t runtime)
{
    AUTO(free) char *tasks = xasprintf("/proc/%d/task", (int)runtime);
    DIR *d = opendir(tasks);
    struct dirent *entry;

    while (d && (entry = readdir(d))) {
        AUTO(free) char *path = xasprintf("%s/%s/children", tasks, entry->d_name);

        if (entry->d_name[0] != '.')
            kill_children(path);
    }
    if (d)
        (void)closedir(d);
    (void)kill(runtime, SIGKILL);
}

bool exec_process_is_filtered(const struct container *c)
{
    return confine_is_filtered(c->worker->spec, container_spec(c));
}
