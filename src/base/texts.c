/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists of texts that end with a NULL: directories to share, programs to show, and their like. */
#include "src/base/texts.h"

#include <stdlib.h>

#include "src/base/alloc.h"

char **texts_copy(const char *const *list)
{
    size_t n = 0;
    char **copy;

    while (list && list[n])
        n++;
    copy = xcalloc(n + 1, sizeof(*copy));
    for (size_t i = 0; i < n; i++)
        copy[i] = xstrdup(list[i]);
    return copy;
}

char **texts_free(char **list)
{
    for (char **s = list; s && *s; s++)
        free(*s);
    free(list);
    return NULL;
}
