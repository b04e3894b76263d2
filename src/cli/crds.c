/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurmkeeper crds: print the CustomResourceDefinitions, for `kubectl apply -f -`.
 */
#include <stdio.h>

#include "src/api/crds.h"
#include "src/cli/verbs.h"

int verb_crds_run(const struct cli_args *args)
{
    AUTO(buf_done) struct buf b = {0};
    const char *const *names;
    size_t n = cli_operands(args, &names);
    bool rules = !cli_has(args, "plain");

    for (size_t i = 0; i < n; i++) {
        const struct api_kind *kind = api_kind_find(names[i]);

        if (!kind)
            return cli_usage_error("crds: '%s' is not a kind of ours; try Controller, NodeSet or "
                                   "Partition",
                                   names[i]);
        api_print_crds(&b, kind, rules);
    }
    if (n == 0)
        api_print_crds(&b, NULL, rules);
    return fputs(buf_str(&b), stdout) < 0 || fflush(stdout) != 0 ? 1 : 0;
}
