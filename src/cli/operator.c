/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurmkeeper operator: makes the cluster match its Controllers and NodeSets, in the foreground.
 *
 * Runs until SIGINT or SIGTERM; then it gives the lead back and goes.  A second signal, like
 * SIGKILL, ends it at once: whoever comes next finds everything in the API server.
 */
#include <signal.h>
#include <unistd.h>

#include "src/base/alloc.h"
#include "src/base/descriptors.h"
#include "src/base/file.h"
#include "src/base/log.h"
#include "src/cli/signals.h"
#include "src/cli/verbs.h"
#include "src/operator/operator.h"
#include "src/operator/webhook.h"
#include "src/slurm/profile.h"

/* slurmctld does not run as root; the highest number stands for no user at all. */
#define ID_MAX 4294967294
/* Where the operator is at home by deploy/ and `slurmkeeper rbac`: the lease of one that is started
 * by hand is the same as that of those in pods, whatever context its kubeconfig names. */
#define HOME_NAMESPACE "slurmkeeper"
#define MAX_CA_BYTES ((size_t)1 << 20)

struct session {
    struct loop *loop;
    struct operator* op;
    bool ending;
};

static void on_stopped(void *arg)
{
    loop_stop(arg, 0);
}

static void on_signal(void *arg, int signo)
{
    struct session *s = arg;

    log_info("signal %d: ending", signo);
    if (s->ending)
        loop_stop(s->loop, 0);
    else
        operator_stop(s->op, on_stopped, s->loop);
    s->ending = true;
}

static int run(struct session *s, const struct kube_target *t, const struct operator_options *o,
               struct err *e)
{
    /* Servers know how to slow clients down; this is against a loop of our own. */
    struct kube_client_options speed = {.per_second = 1000, .burst = 2000};
    AUTO(kube_client_free) struct kube_client *c = NULL;
    AUTO(operator_free) struct operator* op = NULL;
    AUTO(signals_done) struct signals signals = {0};
    int r = kube_client_new(s->loop, t, &speed, &c, e);

    if (r == 0)
        r = operator_new(c, o, &op, e);
    if (r < 0)
        return r;
    s->op = op;
    signals_watch(&signals, s->loop, on_signal, s);
    log_info("operator for %s at %s", t->origin, t->cluster->server);
    if (o->metrics)
        log_info("serving /healthz, /readyz and /metrics on port %d", operator_port(op));
    if (o->webhook)
        log_info("serving the webhook on port %d", operator_webhook_port(op));
    return loop_run(s->loop);
}

/* The authority of those that may ask the webhook; owned.  0 without one. */
static int read_client_ca(const struct cli_args *args, char **ret_pem, struct err *e)
{
    const char *path = cli_get(args, "webhook-client-ca");
    size_t n;

    return path ? file_read(path, MAX_CA_BYTES, ret_pem, &n, e) : 0;
}

static const char *lease_namespace(const struct cli_args *args, const struct kube_target *t)
{
    if (cli_has(args, "lease-namespace"))
        return cli_get(args, "lease-namespace");
    return t->in_pod ? t->namespace : HOME_NAMESPACE;
}

static int start(const struct cli_args *args, struct operator_options *o, struct err *e)
{
    AUTO(loop_free) struct loop *l = NULL;
    AUTO(kube_target_free) struct kube_target *t = NULL;
    struct kube_wish wish = {.kubeconfig = cli_get(args, "kubeconfig")};
    struct session s = {0};
    int r = kube_target_find(&wish, &t, e);

    descriptors_raise();
    if (r == 0)
        r = loop_new(&l, e);
    if (r < 0)
        return r;
    s.loop = l;
    o->lease_namespace = lease_namespace(args, t);
    return run(&s, t, o, e);
}

static const char **namespaces_of(const struct cli_args *args)
{
    const char **list;
    size_t n = 0;

    while (cli_get_at(args, "namespace", n))
        n++;
    list = xcalloc(n + 1, sizeof(char *));
    for (size_t i = 0; i < n; i++)
        list[i] = cli_get_at(args, "namespace", i);
    return list;
}

/* How the nodes' control groups are, in the words of --cgroup. */
static bool read_cgroup(const char *text, enum build_cgroup *ret)
{
    static const char *const names[] = {"v2", "v1", "hybrid", "none", "auto"};

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (streq(text, names[i])) {
            *ret = (enum build_cgroup)i;
            return true;
        }
    }
    return false;
}

static bool read_env(const struct cli_args *args, struct build_env *env)
{
    const char *release = cli_get(args, "slurm-version");
    const char *cgroup = cli_get(args, "cgroup");
    struct err e = {0};

    env->cluster_domain = cli_get(args, "cluster-domain");
    env->no_sidecars = cli_has(args, "no-sidecars");
    env->no_agent = cli_has(args, "no-agent");
    env->no_http = cli_has(args, "no-http-probes");
    env->munge = cli_has(args, "munge");
    env->host_slurm = cli_has(args, "host-slurm");
    env->node_conditions = cli_get(args, "propagated-node-conditions");
    if (release && release_parse(str_of(release), &env->release, &e) < 0) {
        (void)cli_usage_error("operator: --slurm-version: %s", e.text);
        return false;
    }
    if (cgroup && !read_cgroup(cgroup, &env->cgroup)) {
        (void)cli_usage_error("operator: --cgroup: '%s' is none of v2, v1, hybrid, none, auto",
                              cgroup);
        return false;
    }
    return cli_get_i64(args, "slurm-uid", 1, ID_MAX, &env->slurm_uid) &&
           cli_get_i64(args, "slurm-gid", 1, ID_MAX, &env->slurm_gid);
}

int verb_operator_run(const struct cli_args *args)
{
    AUTO(free) const char **namespaces = namespaces_of(args);
    struct operator_options o = {
        .namespaces = namespaces,
        .leader_elect = cli_has(args, "leader-elect"),
        .metrics = cli_get(args, "metrics"),
        /* what somebody starts beside the container's first process has no such right */
        .pod_uid = getpid() == 1 ? getenv("POD_UID") : NULL,
    };
    struct webhook_options webhook = {
        .address = cli_get(args, "webhook"),
        .name = cli_has(args, "webhook-name") ? cli_get(args, "webhook-name") : WEBHOOK_NAME,
        .domain = cli_get(args, "cluster-domain"),
    };
    AUTO(free) char *client_ca = NULL;
    struct err e = {0};

    if (!read_env(args, &o.env))
        return 2;
    log_set_name("operator");
    if (read_client_ca(args, &client_ca, &e) < 0)
        return cli_failure("operator: --webhook-client-ca: %s", e.text);
    webhook.client_ca_pem = client_ca;
    webhook.release = o.env.release;
    o.webhook = webhook.address ? &webhook : NULL;
    if (start(args, &o, &e) < 0)
        return cli_failure("operator: %s", e.text);
    return 0;
}
