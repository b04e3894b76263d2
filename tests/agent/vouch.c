/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which lines the agent does not show to libslurm's parser.
 *
 *   agent-vouch RELEASE < lines
 *
 * Prints each line of which src/agent/vouch.c is certain.
 */
#include <stdio.h>

#include "src/agent/vouch.h"

int main(int argc, char **argv)
{
    char line[8192];
    uint32_t release;
    struct err e = {0};

    if (argc != 2 || release_parse(str_of(argv[1]), &release, &e) < 0)
        return 2;
    while (fgets(line, sizeof(line), stdin)) {
        line[strcspn(line, "\n")] = '\0';
        if (vouch_line(str_of(line), release))
            (void)puts(line);
    }
    return 0;
}
