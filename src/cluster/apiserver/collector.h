/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Garbage collection by owner references. */
#pragma once

#include "src/cluster/apiserver/server.h"

struct collector;

struct collector *collector_new(struct apiserver *s);
struct collector *collector_free(struct collector *g);

/* A committed change. */
void collector_event(struct collector *g, const struct store_event *ev);
/* At the start: look at everything that has owners or is being deleted. */
int collector_start(struct collector *g, struct err *e) MUST_CHECK;

/* The resource that an owner reference names by apiVersion and kind; NULL: nobody serves it. */
struct resource;
struct jsn;
const struct resource *collector_resource_of(struct apiserver *s, const struct jsn *ref);
