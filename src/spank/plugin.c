/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A plugin of sbatch on this machine: says when the job's directory is not there for the nodes.
 *
 * A pod has /tmp, /root and the like of its own, and other directories of the machine not at all. A
 * batch job that is submitted from one of them cannot write its output, and Slurm says so nowhere
 * but in the state of the job, JobLaunchFailure.  The shared directories are arguments in
 * plugstack.conf.  It only ever warns: the output may be meant for another place.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <slurm/spank.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "src/spank/unshared.h"

#define MAX_WORDS 65536

/* What sbatch looks for. */
#pragma GCC visibility push(default)
/* cppcheck-suppress unknownMacro ; it is Slurm's */
SPANK_PLUGIN(slurmkeeper, 1)
int slurm_spank_init_post_opt(spank_t sp, int ac, char **av);
#pragma GCC visibility pop

/* Of this process; what does not fit is not looked at. */
static size_t read_words(char *words)
{
    int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, words, MAX_WORDS - 1) : 0;

    if (fd >= 0)
        (void)close(fd);
    words[n > 0 ? n : 0] = '\0';
    return n > 0 ? (size_t)n : 0;
}

int slurm_spank_init_post_opt(spank_t sp, int ac, char **av)
{
    static char words[MAX_WORDS];
    char here[PATH_MAX];
    const char *dir;

    (void)sp;
    if (strcmp(program_invocation_short_name, "sbatch") != 0)
        return 0;
    dir = unshared_chdir(words, read_words(words));
    if (!dir)
        dir = getcwd(here, sizeof(here));
    if (dir && dir[0] == '/' && unshared_dir(dir, ac, av))
        (void)fprintf(
            stderr,
            "sbatch: warning: the nodes of this cluster do not share '%s' with this machine: "
            "the job starts in another directory, and output that it writes there is lost "
            "or fails the job; submit from a shared directory",
            dir);
    else
        return 0;
    for (int i = 0; i < ac; i++)
        if (strncmp(av[i], "share=", 6) == 0)
            (void)fprintf(stderr, "%s %s", i ? "," : ":", av[i] + 6);
    (void)fprintf(stderr, " (or name one by --chdir and --output)\n");
    return 0;
}
