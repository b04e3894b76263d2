/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The scale subresource, of built-in and custom kinds. */
#pragma once

#include "src/cluster/apiserver/call.h"

/* GET, PUT and PATCH of .../scale; answers and frees the call. */
void scale_serve(struct api_call *c);
