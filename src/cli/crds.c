/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurmkeeper crds: print the CustomResourceDefinitions, for `kubectl apply -f -`; or write one
 * file for each into a directory, which keeps deploy/crds what the tables say.
 */
#include <stdio.h>

#include "src/api/crds.h"
#include "src/base/file.h"
#include "src/cli/verbs.h"

/* The kinds that were named, or all; ends with NULL.  Negative: one is unknown, and that was said.
 */
static int read_kinds(const struct cli_args *args, struct arena *a, const struct api_kind ***ret)
{
    const char *const *names;
    size_t n = cli_operands(args, &names);
    const struct api_kind **list = arena_calloc(a, MAX(n, (size_t)API_N_KINDS) + 1, sizeof(*list));

    for (size_t i = 0; i < n; i++) {
        list[i] = api_kind_find(names[i]);
        if (!list[i])
            return -cli_usage_error("crds: '%s' is not a kind of ours; try %s", names[i],
                                    api_kind_names(a));
    }
    for (size_t i = 0; n == 0 && i < API_N_KINDS; i++)
        list[i] = api_kinds[i];
    *ret = list;
    return 0;
}

static int write_file(struct arena *a, const char *directory, const struct api_kind *k, bool rules)
{
    AUTO(buf_done) struct buf b = {0};
    const char *path = arena_printf(a, "%s/%s", directory, api_crd_file(a, k));
    bool changed;
    struct err e = {0};

    api_print_crds(&b, k, rules);
    if (file_update(path, buf_view(&b), 0644, &changed, &e) < 0)
        return cli_failure("crds: %s", e.text);
    return 0;
}

int verb_crds_run(const struct cli_args *args)
{
    AUTO(arena_done) struct arena a = {0};
    AUTO(buf_done) struct buf b = {0};
    const char *directory = cli_get(args, "directory");
    const struct api_kind **list = NULL;
    bool rules = !cli_has(args, "plain");
    int r = read_kinds(args, &a, &list);

    for (size_t i = 0; r == 0 && list[i]; i++) {
        if (directory)
            r = write_file(&a, directory, list[i], rules);
        else
            api_print_crds(&b, list[i], rules);
    }
    if (r != 0)
        return r < 0 ? -r : r;
    return fputs(buf_str(&b), stdout) < 0 || fflush(stdout) != 0 ? 1 : 0;
}
