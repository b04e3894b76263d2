/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The entry point of slurmkeeper.
 */
#include "src/cli/cli.h"

int main(int argc, char **argv)
{
    return cli_main(argc, argv);
}
