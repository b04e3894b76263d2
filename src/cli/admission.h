/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Admission of our kinds in the embedded API server. */
#pragma once

#include "src/cluster/apiserver/apiserver.h"

/* Have our kinds checked whenever one is created or changed; the server refuses what is wrong. */
void admission_install(struct apiserver *s);
