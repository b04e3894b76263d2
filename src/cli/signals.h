/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What every verb that stays in the foreground needs from the system. */
#pragma once

#include "src/loop/loop.h"

/* SIGINT and SIGTERM call back. */
struct signals {
    struct loop_source *on_int;
    struct loop_source *on_term;
};
void signals_watch(struct signals *s, struct loop *l, loop_signal_fn fn, void *arg);
void signals_done(struct signals *s);
DEFINE_AUTO_DONE(struct signals, signals_done);
