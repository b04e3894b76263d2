/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside of struct host_list, for hostlist.c and its parser. */
#pragma once

#include "src/base/arena.h"
#include "src/slurm/hostlist.h"

struct host_list {
    struct arena arena; /* the prefixes */
    struct host_range *ranges;
    size_t n;
    size_t cap;
    size_t count;  /* names */
    bool suffixed; /* a name had text after its last bracket */
};
