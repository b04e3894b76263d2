/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The limit of descriptors (RLIMIT_NOFILE).  It is read each time: whoever runs a server may change
 * it while it runs (prlimit).
 */
#include "src/base/descriptors.h"

#include <stdint.h>
#include <sys/resource.h>

void descriptors_raise(void)
{
    struct rlimit r;

    if (getrlimit(RLIMIT_NOFILE, &r) == 0 && r.rlim_cur < r.rlim_max) {
        r.rlim_cur = r.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &r);
    }
}

size_t descriptors_limit(void)
{
    struct rlimit r;

    if (getrlimit(RLIMIT_NOFILE, &r) < 0 || r.rlim_cur == RLIM_INFINITY)
        return SIZE_MAX;
    return (size_t)r.rlim_cur;
}
