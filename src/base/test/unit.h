/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What every unit test includes: cmocka and what it needs before it. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* cmocka 2 has a macro of this name. */
#undef stop
