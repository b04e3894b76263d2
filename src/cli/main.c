/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The entry point of slurmkeeper.
 *
 * Files are born private, whatever umask the caller has; what others must read gets its mode where
 * it is made.
 */
#include <sys/stat.h>

#include "src/cli/cli.h"

int main(int argc, char **argv)
{
    (void)umask(077);
    return cli_main(argc, argv);
}
