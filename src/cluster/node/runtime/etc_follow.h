/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Has containers follow the machine's /etc: by inotify, and by looking every 10 s. */
#pragma once

#include "src/cluster/node/runtime/rootfs.h"
#include "src/loop/loop.h"

struct etc_follow;

/* Both must outlive it. */
struct etc_follow *etc_follow_new(struct loop *l, struct rootfs *r);
struct etc_follow *etc_follow_free(struct etc_follow *f);
