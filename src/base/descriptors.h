/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How many descriptors this process may have. */
#pragma once

#include <stddef.h>

/* As many as may be had: the soft limit, which is often 1024, becomes the hard one. */
void descriptors_raise(void);

/* How many there may be; numbers of descriptors are below it. */
size_t descriptors_limit(void);
