/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The manifests that a command line names. */
#pragma once

#include "src/build/render.h"

/* Documents in the order given, in the arena `a`. */
struct manifests {
    struct arena *a;
    struct render_doc *docs;
    size_t n;
    size_t cap;
};

/* Add a file, a directory or "-".  The error names the file. */
int manifests_add(struct manifests *m, const char *path, struct err *e) MUST_CHECK;
