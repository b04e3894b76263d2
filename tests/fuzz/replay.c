/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs a fuzz target over the files of its corpus, without a fuzzer: the unit test of each target.
 *
 * Usage: replay-TARGET DIRECTORY.  Every file is one input; any crash is the failure.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>

#include "src/base/alloc.h"
#include "src/base/file.h"

#define MAX_BYTES ((size_t)16 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay(const char *directory, const char *name)
{
    AUTO(free) char *path = xasprintf("%s/%s", directory, name);
    AUTO(free) char *text = NULL;
    struct err e = {0};
    size_t n;

    if (file_read(path, MAX_BYTES, &text, &n, &e) < 0) {
        (void)fprintf(stderr, "%s\n", e.text);
        return -1;
    }
    (void)LLVMFuzzerTestOneInput((const uint8_t *)text, n);
    return 0;
}

int main(int argc, char **argv)
{
    DIR *dir = argc == 2 ? opendir(argv[1]) : NULL;
    struct dirent *entry;
    int n = 0;

    if (!dir) {
        (void)fprintf(stderr, "usage: %s DIRECTORY\n", argv[0]);
        return 2;
    }
    while ((entry = readdir(dir))) {
        if (*entry->d_name == '.')
            continue;
        if (replay(argv[1], entry->d_name) < 0)
            return 1;
        n++;
    }
    (void)closedir(dir);
    (void)printf("%d inputs\n", n);
    return n == 0;
}
