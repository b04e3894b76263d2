/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * System calls that the runtime's own filter may not know.
 *
 *   filter PROGRAM ARGUMENT...   runs a program under it
 *
 * The runtime finds calls by name in libseccomp's table, and passes over names that are not there:
 * Debian 12's knows Linux 5.17, and machines run later kernels.  fchmodat2 came with 6.6, and makes
 * set-user-id files as chmod does, which containers must not.  So this filter goes by numbers, and
 * is there before the runtime starts.  Calls that came after those that we know do not exist:
 * programs ask and go on without.
 *
 * Numbers from 424 on are the same for all instruction sets; those of x32 have a bit more.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/cluster/node/shim/shim.h"

#define X32_BIT 0x40000000U
#define FCHMODAT2 452U
#define LAST_KNOWN 469U /* file_setattr, of Linux 6.17 */

#define LOAD(offset) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)(offset))
#define REFUSE(errnum) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (errnum))
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define LOW_WORD 0
#else
#define LOW_WORD 4
#endif

void shim_filter(void)
{
    static const struct sock_filter steps[] = {
        LOAD(offsetof(struct seccomp_data, nr)),
        BPF_STMT(BPF_ALU | BPF_AND | BPF_K, ~X32_BIT),
        BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, LAST_KNOWN, 0, 1),
        REFUSE(ENOSYS),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, FCHMODAT2, 0, 3),
        LOAD(offsetof(struct seccomp_data, args[2]) + LOW_WORD),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, S_ISUID, 0, 1),
        REFUSE(EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {sizeof(steps) / sizeof(steps[0]),
                                       (struct sock_filter *)(uintptr_t)steps};

    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
        shim_die(errno, "cannot set the filter of system calls");
}

int shim_filtered(int argc, char **argv)
{
    if (argc < 1)
        shim_die(0, "filter: no program is named");
    shim_filter();
    (void)execv(argv[0], argv);
    shim_die(errno, "cannot run '%s'", argv[0]);
}
