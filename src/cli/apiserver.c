/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurmkeeper apiserver: the embedded Kubernetes API with the workload controllers, in the
 * foreground.
 *
 * Runs until SIGINT or SIGTERM, then ends its streams and goes; SIGKILL is fine too.
 */
#include <signal.h>

#include "src/base/descriptors.h"
#include "src/base/log.h"
#include "src/cli/admission.h"
#include "src/cli/signals.h"
#include "src/cli/verbs.h"
#include "src/cluster/apiserver/apiserver.h"
#include "src/cluster/workloads/workloads.h"
#include "src/slurm/profile.h"

static void on_signal(void *arg, int signo)
{
    log_info("signal %d: ending", signo);
    loop_stop(arg, 0);
}

static int serve(const struct apiserver_options *o, const struct cli_args *args, uint32_t release,
                 struct err *e)
{
    AUTO(loop_free) struct loop *l = NULL;
    AUTO(admission_done)
    struct admission admission = {.release = release, .host_slurm = cli_has(args, "host-slurm")};
    bool controllers = !cli_has(args, "no-controllers");
    AUTO(workloads_free) struct workloads *w = NULL;
    AUTO(apiserver_free) struct apiserver *s = NULL;
    AUTO(signals_done) struct signals signals = {0};
    int r = loop_new(&l, e);

    if (r == 0)
        r = apiserver_new(l, o, &s, e);
    admission.server = s;
    if (r == 0)
        r = admission_install(&admission, e);
    if (r == 0 && controllers)
        r = workloads_new(s, &w, e);
    if (r < 0)
        return r;
    signals_watch(&signals, l, on_signal, l);
    log_info("serving on port %d; export KUBECONFIG=%s/admin.kubeconfig", apiserver_port(s),
             o->state_dir);
    return loop_run(l);
}

int verb_apiserver_run(const struct cli_args *args)
{
    struct apiserver_options o = {
        .state_dir = cli_has(args, "state") ? cli_get(args, "state") : "/var/lib/slurmkeeper",
        .listen = cli_has(args, "listen") ? cli_get(args, "listen") : "127.0.0.1:6443",
        .allow_remote = cli_has(args, "allow-remote"),
    };
    const char *slurm = cli_get(args, "slurm-version");
    int64_t history_s = 300;
    uint32_t release = 0;
    struct err e = {0};

    if (!cli_get_i64(args, "history", 1, 86400, &history_s))
        return 2;
    if (slurm && release_parse(str_of(slurm), &release, &e) < 0)
        return cli_usage_error("apiserver: --slurm-version: %s", e.text);
    o.history_ms = history_s * 1000;
    log_set_name("apiserver");
    descriptors_raise();
    (void)signal(SIGPIPE, SIG_IGN);
    if (serve(&o, args, release, &e) < 0)
        return cli_failure("apiserver: %s", e.text);
    return 0;
}
