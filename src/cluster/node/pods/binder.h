/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Puts pods that have no node on this one. */
#pragma once

#include "src/cluster/node/node_private.h"

struct binder *binder_new(struct node *n);
struct binder *binder_free(struct binder *b);

/* Pods or the Node have changed: look at all that wait, soon. */
void binder_changed(struct binder *b);
/* A pod is gone. */
void binder_forget(struct binder *b, const char *uid);
