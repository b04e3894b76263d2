/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurmkeeper node: runs the pods of a cluster on this machine, in the foreground.
 *
 * Ends on SIGINT or SIGTERM and leaves the pods running; the next one takes them over.  With
 * --purge it stops them all instead, and removes what they had on the machine.
 */
#include <signal.h>

#include "src/base/alloc.h"
#include "src/base/descriptors.h"
#include "src/base/log.h"
#include "src/cli/signals.h"
#include "src/cli/verbs.h"
#include "src/cluster/node/node.h"

#define MAX_SHARES 64

static void on_signal(void *arg, int signo)
{
    log_info("signal %d: ending; pods run on", signo);
    loop_stop(arg, 0);
}

static int run(const struct node_options *o, struct err *e)
{
    AUTO(loop_free) struct loop *l = NULL;
    AUTO(node_free) struct node *n = NULL;
    AUTO(signals_done) struct signals signals = {0};
    int r = loop_new(&l, e);

    if (r == 0)
        r = node_new(l, o, &n, e);
    if (r < 0)
        return r;
    signals_watch(&signals, l, on_signal, l);
    return loop_run(l);
}

static bool name_ok(const char *name)
{
    size_t n = strlen(name);

    return n > 0 && n <= 40 && strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == n;
}

int verb_node_run(const struct cli_args *args)
{
    const char *shares[MAX_SHARES + 1] = {NULL};
    struct node_options o = {
        .state_dir = cli_has(args, "state") ? cli_get(args, "state") : "/var/lib/slurmkeeper",
        .kubeconfig = cli_get(args, "kubeconfig"),
        .cluster = cli_has(args, "name") ? cli_get(args, "name") : "default",
        .node_name = cli_get(args, "node-name"),
        .pod_cidr = cli_get(args, "pod-cidr"),
        .slurm = cli_get(args, "slurm"),
        .shares = shares,
    };
    int64_t grace_s = 30;
    struct err e = {0};
    int r;

    for (size_t i = 0; i < MAX_SHARES && cli_get_at(args, "share", i); i++)
        shares[i] = cli_get_at(args, "share", i);
    if (!name_ok(o.cluster))
        return cli_usage_error("node: --name: '%s' is not a name of at most 40 lower-case letters, "
                               "digits and dashes",
                               o.cluster);
    if (!cli_get_i64(args, "grace", 0, 3600, &grace_s))
        return 2;
    if (geteuid() != 0)
        return cli_failure("node: containers, namespaces and interfaces need root: run it as root");
    log_set_name("node");
    descriptors_raise();
    r = cli_has(args, "purge") ? node_purge(&o, grace_s, &e) : run(&o, &e);
    return r < 0 ? cli_failure("node: %s", e.text) : 0;
}
