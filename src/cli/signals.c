/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Signals of verbs that stay in the foreground.
 */
#include "src/cli/signals.h"

void signals_watch(struct signals *s, struct loop *l, loop_signal_fn fn, void *arg)
{
    s->on_int = loop_add_signal(l, SIGINT, fn, arg);
    s->on_term = loop_add_signal(l, SIGTERM, fn, arg);
}

void signals_done(struct signals *s)
{
    s->on_int = loop_source_free(s->on_int);
    s->on_term = loop_source_free(s->on_term);
}
