/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of access share. */
#pragma once

#include "src/cluster/apiserver/access.h"
#include "src/cluster/apiserver/credentials.h"

struct access {
    char *dir;
    struct credentials own;
    struct store *store; /* borrowed */
};
