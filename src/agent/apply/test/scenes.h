/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Changes of every kind, for tests that put a fault into each of their steps. */
#pragma once

#include "src/agent/apply/test/stage.h"

struct scene {
    const char *name;
    const char *from;
    const char *to;
    bool job;           /* runs in the partition that leaves */
    const char *no_qos; /* slurmctld refuses this one */
    const char *lands;  /* the files in the end, where they are not `to` */
    bool files;         /* `to` means the same to slurmctld: no call */
};

extern const struct scene scenes[];
extern const size_t n_scenes;

/* The stage before the change, with an agent that has looked around. */
struct stage *scene_set(const struct scene *c);
/* The same, but the agent has yet to start. */
struct stage *scene_prepare(const struct scene *c);
/* Two minutes go by, and the job ends in the midst of them. */
void scene_play_out(struct stage *s, const struct scene *c);
/* The slurm.conf that it ends with. */
const char *scene_end(const struct scene *c);
/* Everything is as before, or as declared, and nothing between. */
void scene_expect(struct stage *s, const struct scene *c, bool changed, const char *what);
