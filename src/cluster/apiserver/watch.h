/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Watches: streams of changes. */
#pragma once

#include "src/cluster/apiserver/server.h"

struct watch_hub;

struct watch_hub *watch_hub_new(struct apiserver *s);
struct watch_hub *watch_hub_free(struct watch_hub *h);

/* Answer a watch request with a stream; takes the call over. */
void verb_watch(struct api_call *c);

/* A committed change: on to everyone it concerns. */
void watch_hub_event(struct watch_hub *h, const struct store_event *ev);

/* End all watches of a resource (its definition is gone). */
void watch_hub_close_resource(struct watch_hub *h, const char *store_name);
size_t watch_hub_count(const struct watch_hub *h);
