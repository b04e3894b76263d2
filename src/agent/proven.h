/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The files that slurmctld last served with, kept with its state, where they outlive the pod. */
#pragma once

#include "src/agent/store.h"

/*
 * Keep the store's last good declaration and the hashes that it knows.  `dir` is made if it is not
 * there (0700); its parent must be.  `release` is of the slurmctld that serves.
 */
int proven_save(const char *dir, const struct store *s, uint32_t release, struct err *e) MUST_CHECK;

/*
 * Give an empty store what was kept: it becomes the good declaration, and its files the live ones.
 * Returns 1 if so; 0 if nothing was kept, it is damaged, or it is of another series of releases
 * than `release`, whose slurmctld may not take it any more (the log tells).
 */
int proven_restore(const char *dir, struct store *s, uint32_t release, struct err *e) MUST_CHECK;
