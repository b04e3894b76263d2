/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Forgetting old versions after a while. */
#pragma once

#include "src/cluster/apiserver/server.h"

struct compactor;

struct compactor *compactor_new(struct apiserver *s);
struct compactor *compactor_free(struct compactor *k);
