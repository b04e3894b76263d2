/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the plugin decides by; pure, and without a library of ours: sbatch loads it. */
#include "src/spank/unshared.h"

#include <string.h>

#define SHARE "share="

static bool is_in(const char *path, const char *dir)
{
    size_t n = strlen(dir);

    while (n > 0 && dir[n - 1] == '/')
        n--;
    return strncmp(path, dir, n) == 0 && (path[n] == '/' || path[n] == '\0');
}

bool unshared_dir(const char *dir, int n, char *const *arguments)
{
    for (int i = 0; i < n; i++)
        if (strncmp(arguments[i], SHARE, strlen(SHARE)) == 0 &&
            is_in(dir, arguments[i] + strlen(SHARE)))
            return false;
    return true;
}

static const char *value(const char *word, const char *next)
{
    static const char name[] = "--chdir";

    if (strcmp(word, "-D") == 0 || strcmp(word, name) == 0)
        return next;
    if (strncmp(word, name, strlen(name)) == 0 && word[strlen(name)] == '=')
        return word + strlen(name) + 1;
    return strncmp(word, "-D", 2) == 0 ? word + 2 : NULL;
}

const char *unshared_chdir(const char *words, unsigned long size)
{
    const char *end = words + size;
    const char *found = NULL;

    while (words < end) {
        const char *next = words + strlen(words) + 1;
        const char *v = value(words, next < end ? next : NULL);

        found = v ? v : found;
        words = next;
    }
    return found;
}
