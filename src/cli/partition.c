/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurmkeeper partition: add nodes to a Partition, or take nodes from it, in one command.
 *
 * The Partition is found by what Slurm calls it.  The edit is written with the version that was
 * read, so that of two people at the same time none is lost; who comes second is told to look
 * again.
 */
#include <stdio.h>

#include "src/api/kinds.h"
#include "src/cli/partition_edit.h"
#include "src/cli/reach.h"
#include "src/cli/verbs.h"
#include "src/local/ask.h"

static const struct kube_resource partitions = {API_OWN_GROUP, API_OWN_VERSION, "partitions"};
static const struct kube_resource nodesets = {API_GROUP, API_VERSION, "nodesets"};

static int find(struct ask *k, struct arena *a, const char *ns, const char *name,
                struct jsn **ret_object, struct err *e)
{
    struct jsn *items = NULL;
    struct jsn *found = NULL;
    int r = ask_list(k, a, &partitions, ns, &items, e);

    if (r < 0)
        return r;
    JSN_FOR_ITEMS (item, items) {
        const char *own = jsn_get_str(item, "spec.partitionName");

        if (!streq(own && own[0] ? own : jsn_get_str(item, "metadata.name"), name))
            continue;
        if (found)
            return err_bad(e, "two clusters of namespace %s have a Partition %s: use kubectl", ns,
                           name);
        found = item;
    }
    if (!found)
        return err_set(
            e, -ENOENT, ERR_PERMANENT,
            "there is no Partition %s in namespace %s (the partition of a NodeSet has the "
            "nodes of that NodeSet alone)",
            name, ns);
    *ret_object = found;
    return 0;
}

static int write_spec(struct ask *k, struct arena *a, const char *ns, const struct jsn *object,
                      const struct jsn *spec, struct jsn **ret_object, struct err *e)
{
    struct jsn *patch = jsn_object(a);
    struct jsn *change = jsn_ensure_object(a, patch, "spec");
    struct kube_request r = {.verb = KUBE_PATCH_MERGE,
                             .resource = partitions,
                             .namespace = ns,
                             .name = jsn_get_str(object, "metadata.name"),
                             .body = patch};

    jsn_set_path(a, patch, "metadata.resourceVersion",
                 jsn_string(a, jsn_get_str(object, "metadata.resourceVersion")));
    for (const char *const *f = (const char *const[]){"nodeSetRefs", "nodes", NULL}; *f; f++)
        if (jsn_key(spec, *f))
            jsn_set(a, change, *f, jsn_clone(a, jsn_key(spec, *f)));
    return ask_call(k, &r, a, ret_object, e);
}

static void print(const struct jsn *object)
{
    AUTO(buf_done) struct buf b = {0};
    const char *nodes = jsn_get_str(object, "spec.nodes");

    JSN_FOR_ITEMS (ref, jsn_get(object, "spec.nodeSetRefs"))
        buf_printf(&b, "%s%s", b.n ? "," : "", jsn_get_str(ref, "name"));
    if (nodes && nodes[0])
        buf_printf(&b, "%s%s", b.n ? "," : "", nodes);
    printf("Partition %s: nodes=%s\n", jsn_get_str(object, "metadata.name"), buf_str(&b));
}

static int edit(struct arena *a, struct ask *k, const char *ns, const char *const *words, size_t n,
                struct err *e)
{
    struct jsn *object = NULL;
    struct jsn *sets = NULL;
    struct jsn *spec;
    int r = find(k, a, ns, words[0], &object, e);

    if (r == 0)
        r = ask_list(k, a, &nodesets, ns, &sets, e);
    if (r < 0)
        return r;
    spec = jsn_clone(a, jsn_key(object, "spec"));
    for (size_t i = 1; r == 0 && i < n; i++)
        r = partition_edit(a, spec, sets, words[i], e);
    if (r == 0)
        r = write_spec(k, a, ns, object, spec, &object, e);
    if (r < 0)
        return err_wrap(e, r, "Partition %s", words[0]);
    print(object);
    return 0;
}

int verb_partition_run(const struct cli_args *args)
{
    AUTO(arena_done) struct arena a = {0};
    AUTO(ask_free) struct ask *k = NULL;
    const char *const *words = NULL;
    size_t n = cli_operands(args, &words);
    const char *ns = cli_get(args, "namespace");
    struct err e = {0};

    if (n < 2)
        return cli_usage_error("partition: say which and what: partition NAME nodes+=NAMES");
    if (ask_new(reach_kubeconfig(args, &a), &k, &e) < 0 ||
        edit(&a, k, ns ? ns : ask_namespace(k), words, n, &e) < 0)
        return cli_failure("partition: %s", e.text);
    return 0;
}
