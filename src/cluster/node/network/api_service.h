/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The Service by which pods find the API server. */
#pragma once

#include "src/cluster/node/node_private.h"

#define API_SERVICE_IP "10.96.0.1"

struct api_service;

/* Makes default/kubernetes if it is missing, and again whenever it is. */
struct api_service *api_service_new(struct node *n);
struct api_service *api_service_free(struct api_service *s);
/* Services have changed. */
void api_service_changed(struct api_service *s);
