/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurmkeeper serve: a whole cluster on this machine, in the foreground; what `up` starts in the
 * background, and a service manager may start instead.
 */
#include "src/local/serve.h"

#include "src/base/descriptors.h"
#include "src/base/log.h"
#include "src/cli/reach.h"
#include "src/cli/signals.h"
#include "src/cli/verbs.h"

#define MAX_SHARES 64

struct session {
    struct loop *loop;
    struct serve *serve;
    bool ending;
};

static void on_ended(void *arg)
{
    struct session *s = arg;

    loop_stop(s->loop, 0);
}

static void on_signal(void *arg, int signo)
{
    struct session *s = arg;

    log_info("signal %d: ending; pods run on", signo);
    if (s->ending)
        loop_stop(s->loop, 0);
    else
        serve_stop(s->serve, on_ended, s);
    s->ending = true;
}

static int run(const struct serve_options *o, struct err *e)
{
    AUTO(loop_free) struct loop *l = NULL;
    AUTO(serve_free) struct serve *serve = NULL;
    AUTO(signals_done) struct signals signals = {0};
    struct session s = {0};
    int r = loop_new(&l, e);

    if (r == 0)
        r = serve_new(l, o, &serve, e);
    if (r < 0)
        return r;
    s.loop = l;
    s.serve = serve;
    signals_watch(&signals, l, on_signal, &s);
    return loop_run(l);
}

int verb_serve_run(const struct cli_args *args)
{
    const char *shares[MAX_SHARES + 1] = {NULL};
    const char *now[MAX_SHARES + 1] = {NULL};
    AUTO(free) char *program = realpath("/proc/self/exe", NULL);
    struct serve_options o = {.state = reach_state(args),
                              .name = cli_get(args, "name"),
                              .pod_cidr = cli_get(args, "pod-cidr"),
                              .slurm = cli_get(args, "slurm"),
                              .shares = shares,
                              .now = now,
                              .program = program,
                              .no_agent = cli_has(args, "no-agent")};
    struct err e = {0};

    for (size_t i = 0; i < MAX_SHARES && cli_get_at(args, "share", i); i++)
        shares[i] = cli_get_at(args, "share", i);
    for (size_t i = 0; i < MAX_SHARES && cli_get_at(args, "share-now", i); i++)
        now[i] = cli_get_at(args, "share-now", i);
    if (o.name && !choices_name_ok(o.name))
        return cli_usage_error("serve: --name: '%s' is not a name of at most 40 lower-case "
                               "letters, digits and dashes",
                               o.name);
    if (geteuid() != 0)
        return cli_failure(
            "serve: containers, namespaces and interfaces need root: run it as root");
    log_set_name("serve");
    descriptors_raise();
    if (run(&o, &e) < 0)
        return cli_failure("serve: %s", e.text);
    return 0;
}
