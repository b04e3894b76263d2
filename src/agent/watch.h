/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Notices changes of the mounted files: by inotify, and by looking every 5 s. */
#pragma once

#include "src/agent/fileset.h"
#include "src/loop/loop.h"

struct watch;

/* The files have other names or contents than when this was called last; and at the start. */
typedef void (*watch_fn)(void *arg, const struct fileset *files);

/* A directory that is not there (yet) is looked for every 5 s. */
struct watch *watch_new(struct loop *l, const char *dir, watch_fn fn, void *arg);
struct watch *watch_free(struct watch *w);
DEFINE_AUTO(struct watch, watch_free);

/* Call back at the next look even if nothing has changed: what was told could not be used. */
void watch_again(struct watch *w, int64_t delay_ms);
