/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The life of namespaces: what they begin with, and how they end. */
#pragma once

#include "src/cluster/apiserver/server.h"

struct namespaces;

struct namespaces *namespaces_new(struct apiserver *s);
/* What each of them should have may be different now. */
void namespaces_look_again(struct namespaces *n);
struct namespaces *namespaces_free(struct namespaces *n);

/* A committed change. */
void namespaces_event(struct namespaces *n, const struct store_event *ev);
/* At the start: the namespaces that are always there, and those that were on their way out. */
int namespaces_start(struct namespaces *n, struct err *e) MUST_CHECK;
