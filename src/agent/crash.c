/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The crash points of the real program: none.
 *
 * test/crash.c takes this file's place in the program that the tests kill at every step.
 */
#include "src/agent/crash.h"

void crash_point(const char *name)
{
    (void)name;
}
