/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurmkeeper-shim: the small processes that pods need while nobody looks after them.
 *
 *   slurmkeeper-shim pause ...   holds the namespaces of a pod
 *   slurmkeeper-shim run ...     holds a container: its output, its input, its exit status
 *   slurmkeeper-shim filter ...  runs the runtime with fewer system calls
 *
 * Both outlive the node process: whoever comes after it finds them by what they leave on disk. They
 * link nothing but libc, start in a millisecond and need next to no memory, since there is one for
 * each pod and one for each container.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "src/base/file.h"
#include "src/cluster/node/shim/shim.h"

void shim_die(int errnum, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    (void)vfprintf(stderr, fmt, ap);
    va_end(ap);
    (void)fprintf(stderr, errnum ? ": %s\n" : "%s\n", errnum ? strerror(errnum) : "");
    exit(1);
}

const char *shim_option(int argc, char **argv, int *i, const char *name)
{
    if (!streq(argv[*i], name))
        return NULL;
    if (*i + 1 >= argc)
        shim_die(0, "slurmkeeper-shim: %s needs a value", name);
    return argv[++*i];
}

static void close_others(void)
{
    if (syscall(SYS_close_range, 3U, ~0U, 0U) == 0)
        return;
    for (int fd = 3; fd < 1024; fd++)
        (void)close(fd);
}

void shim_detach(const char *const *procs, size_t n_procs)
{
    close_others();
    (void)setsid();
    (void)signal(SIGHUP, SIG_IGN);
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGINT, SIG_IGN);
    for (size_t i = 0; i < n_procs; i++) {
        int fd = open(procs[i], O_WRONLY | O_CLOEXEC);

        if (fd >= 0) {
            (void)!file_write_all(fd, STR("0"));
            (void)close(fd);
        }
    }
}

int main(int argc, char **argv)
{
    if (argc >= 2 && streq(argv[1], "filter"))
        return shim_filtered(argc - 2, argv + 2); /* the umask is the command's */
    (void)umask(077);
    if (argc >= 2 && streq(argv[1], "pause"))
        return shim_pause(argc - 2, argv + 2);
    if (argc >= 2 && streq(argv[1], "run"))
        return shim_run(argc - 2, argv + 2);
    shim_die(0, "slurmkeeper-shim: started by slurmkeeper node, and of no use without it");
}
