/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The Service default/kubernetes: where client libraries in pods look for this server. */
#pragma once

struct apiserver;
struct store_event;
struct own_service;

/* Made at the start if it is missing, and again whenever it is. */
struct own_service *own_service_new(struct apiserver *s);
struct own_service *own_service_free(struct own_service *o);
void own_service_event(struct own_service *o, const struct store_event *ev);
