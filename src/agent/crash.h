/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Places where the test program dies on purpose; the real one has none. */
#pragma once

/* Passes a named point between two steps that must not depend on each other. */
void crash_point(const char *name);
