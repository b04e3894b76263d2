/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A whole cluster on this machine.
 *
 * Three processes of ours are kept running: the API server, then, when it answers and has the
 * definitions of our kinds, the operator and the node.  The machine's Slurm commands are looked
 * after from here (clients.c).  When this process dies the others get SIGTERM; the pods run on,
 * and whoever serves the state directory next takes them over.
 *
 * Name, port, pod range, Slurm and declared shares are chosen once and kept: a cluster that comes
 * back is where it was.
 */
#include "src/local/serve.h"

#include <time.h>

#include "src/api/crds.h"
#include "src/base/alloc.h"
#include "src/base/file.h"
#include "src/base/log.h"
#include "src/base/name_claim.h"
#include "src/base/texts.h"
#include "src/kube/client.h"
#include "src/local/clients.h"
#include "src/local/daemon.h"
#include "src/local/host.h"
#include "src/local/port.h"
#include "src/local/share_rules.h"
#include "src/local/slurms.h"
#include "src/local/unknown.h"
#include "src/slurm/profile.h"

#define USUAL_PORT 6443
#define LOOK_MS 20
#define GRACE_MS 5000

enum process { NODE, OPERATOR, APISERVER, N_PROCESSES }; /* in the order of ending */

struct serve {
    struct loop *loop;
    struct layout layout;
    struct choices choices;
    char **now; /* shares that are not kept; NULL-terminated */
    struct host host;
    char *program;
    char *munge;     /* slurmkeeper-munge; or NULL */
    char *supervise; /* slurmkeeper-supervise; or NULL */
    char *spank;     /* our plugin of commands of this series; or NULL */
    bool no_agent;
    int lock;
    int port_name; /* of port_hold */
    struct daemon *processes[N_PROCESSES];
    struct kube_target *target;
    struct kube_client *client;
    struct clients *clients;
    char *node_socket;
    struct loop_source *timer; /* the next look at the API server, then at the node */
    size_t defined;            /* how many kinds it has the definition of */
    void (*ended)(void *arg);
    void *ended_arg;
};

static bool take_port(struct serve *s, int port)
{
    s->port_name = port_hold(port);
    return s->port_name >= 0;
}

static int choose_port(struct serve *s)
{
    for (int port = USUAL_PORT; port < USUAL_PORT + 1000; port++)
        if (take_port(s, port))
            return port;
    return USUAL_PORT;
}

/* Another cluster may have taken the port meanwhile; ours may only just be letting go of it. */
static bool port_comes_free(struct serve *s, int port)
{
    struct timespec t = {0, 20000000L};

    for (int i = 0; i < 100; i++) {
        if (take_port(s, port))
            return true;
        (void)nanosleep(&t, NULL);
    }
    return false;
}

static int choose(struct serve *s, const struct serve_options *o, struct err *e)
{
    struct choices *c = &s->choices;
    char release[RELEASE_TEXT_LEN];
    int r = choices_read(&s->layout, c, e);

    if (r < 0 && r != -ENOENT)
        return r;
    if (o->pod_cidr && !layout_has_pods(&s->layout)) {
        free(c->pod_cidr);
        c->pod_cidr = NULL;
    }
    r = choices_check(c, o->state, o->name, o->pod_cidr, e);
    if (r < 0)
        return r;
    if (!c->name)
        c->name = xstrdup(o->name ? o->name : LAYOUT_NAME);
    if (!c->pod_cidr)
        c->pod_cidr = xstrdup_null(o->pod_cidr);
    r = name_claim_take(NAME_CLAIM_DIR, c->name, s->layout.state, e);
    if (r < 0)
        return r;
    if (c->port == 0 || !port_comes_free(s, c->port))
        c->port = choose_port(s);
    if (o->shares && o->shares[0]) {
        c->shares = texts_free(c->shares);
        c->shares = texts_copy(o->shares);
    }
    s->now = texts_copy(o->now);
    c->no_agent = s->no_agent;
    free(c->slurm);
    free(c->release);
    c->slurm = xstrdup(s->host.slurm.prefix);
    release_text(s->host.slurm.release, release);
    c->release = xstrdup(release);
    return choices_write(&s->layout, c, e);
}

static struct daemon *start(struct serve *s, const char *const *argv)
{
    AUTO(free) char *log = xasprintf("%s/%s.log", s->layout.logs, argv[1]);
    struct daemon_options o = {.name = argv[1], .argv = argv, .log = log};

    return daemon_new(s->loop, &o);
}

static void start_apiserver(struct serve *s)
{
    AUTO(free) char *listen = xasprintf("127.0.0.1:%d", s->choices.port);
    char release[RELEASE_TEXT_LEN];
    const char *const argv[] = {s->program,     "apiserver", "--state",         s->layout.state,
                                "--listen",     listen,      "--slurm-version", release,
                                "--host-slurm", NULL};

    release_text(s->host.slurm.release, release);
    s->processes[APISERVER] = start(s, argv);
}

/* Each process of ours has credentials of its own, which the API server writes. */
static char *credentials(const struct serve *s, const char *component)
{
    return xasprintf("%s/%s.kubeconfig", s->layout.state, component);
}

/* munge, because each cluster of a machine can have its own: a sackd has one place for all of them
 * before Slurm 25.05, and one for each cluster's name from then on. */
static void start_operator(struct serve *s)
{
    AUTO(free) char *kubeconfig = credentials(s, "operator");
    AUTO(free) char *uid = xasprintf("%lld", (long long)s->host.slurm_uid);
    AUTO(free) char *gid = xasprintf("%lld", (long long)s->host.slurm_gid);
    char release[RELEASE_TEXT_LEN];
    const char *argv[] = {
        s->program,    "operator", "--kubeconfig", kubeconfig,     "--slurm-version",
        release,       "--cgroup", s->host.cgroup, "--slurm-uid",  uid,
        "--slurm-gid", gid,        "--munge",      "--host-slurm", NULL,
        NULL,          NULL};
    size_t n = ARRAY_LEN(argv) - 3;

    if (s->no_agent)
        argv[n++] = "--no-agent";
    if (!s->host.http) /* nor does one that is older, before it becomes a newer one */
        argv[n++] = "--no-http-probes";
    release_text(s->host.slurm.release, release);
    s->processes[OPERATOR] = start(s, argv);
}

static size_t count(char *const *list)
{
    size_t n = 0;

    while (list && list[n])
        n++;
    return n;
}

static size_t add_shares(const char **argv, size_t n, char *const *list)
{
    for (; list && *list; list++) {
        argv[n++] = "--share";
        argv[n++] = *list;
    }
    return n;
}

static void start_node(struct serve *s)
{
    size_t n = 0;
    const char **argv =
        xcalloc(14 + 2 * (count(s->choices.shares) + count(s->now)), sizeof(char *));

    argv[n++] = s->program;
    argv[n++] = "node";
    argv[n++] = "--state";
    argv[n++] = s->layout.state;
    argv[n++] = "--name";
    argv[n++] = s->choices.name;
    argv[n++] = "--slurm";
    argv[n++] = s->host.slurm.prefix;
    if (s->choices.pod_cidr) {
        argv[n++] = "--pod-cidr";
        argv[n++] = s->choices.pod_cidr;
    }
    n = add_shares(argv, n, s->now);
    n = add_shares(argv, n, s->choices.shares);
    s->processes[NODE] = start(s, argv);
    free(argv);
}

static void define_next(struct serve *s);

static void on_defined(void *arg, const struct kube_answer *answer, const struct kube_failure *f)
{
    struct serve *s = arg;

    (void)answer;
    if (f) {
        log_debug("definitions: %s", f->err.text);
        loop_timer_arm(s->timer, LOOK_MS);
        return;
    }
    s->defined++;
    define_next(s);
}

/* One definition after the other, then whoever needs them. */
static void define_next(struct serve *s)
{
    const struct api_kind *kind = api_kinds[s->defined];
    AUTO(arena_done) struct arena a = {0};
    struct kube_request r = {
        .verb = KUBE_APPLY_FORCE,
        .resource = {"apiextensions.k8s.io", "v1", "customresourcedefinitions"},
        .fn = on_defined,
        .arg = s};

    if (!kind) {
        start_operator(s);
        (void)unlink(s->node_socket);
        start_node(s);
        loop_timer_arm(s->timer, LOOK_MS);
        return;
    }
    r.body = api_crd(&a, kind, true);
    r.name = jsn_get_str(r.body, "metadata.name");
    (void)kube_call_start(s->client, &r);
}

/*
 * The node listens when it has made the cluster's network.  Before that, commands would send what
 * is for slurmctld out of the machine.
 */
static void start_clients(struct serve *s)
{
    if (file_exists(s->node_socket))
        s->clients = clients_new(s->client, &s->layout,
                                 &(struct clients_options){.name = s->choices.name,
                                                           .release = s->host.slurm.release,
                                                           .munge = s->munge,
                                                           .supervise = s->supervise,
                                                           .spank = s->spank,
                                                           .shares = s->choices.shares,
                                                           .shares_now = s->now});
    else
        loop_timer_arm(s->timer, LOOK_MS);
}

/*
 * The API server writes credentials when it starts; a client can be had after that.  Those of an
 * earlier start may name a port that somebody else has by now, so they are read again until the
 * server has answered.
 */
static int renew_client(struct serve *s, struct err *e)
{
    AUTO(free) char *kubeconfig = credentials(s, "serve");
    struct kube_wish wish = {.kubeconfig = kubeconfig};
    struct kube_client_options o = {.per_second = -1};
    int r;

    if (s->client && s->defined > 0)
        return 0;
    s->client = kube_client_free(s->client);
    s->target = kube_target_free(s->target);
    r = kube_target_find(&wish, &s->target, e);
    return r < 0 ? r : kube_client_new(s->loop, s->target, &o, &s->client, e);
}

static void on_look(void *arg)
{
    struct serve *s = arg;
    struct err e = {0};

    if (s->processes[NODE])
        start_clients(s);
    else if (renew_client(s, &e) < 0)
        loop_timer_arm(s->timer, LOOK_MS);
    else
        define_next(s);
}

/* Those that are named now, else those that were named last, and those of this time only. */
static int check_shares(const struct serve *s, const struct serve_options *o, struct err *e)
{
    AUTO(choices_done) struct choices kept = {0};
    bool are_named = o->shares && o->shares[0];
    int r = choices_read(&s->layout, &kept, e);
    char *const *declared = are_named ? (char *const *)(uintptr_t)o->shares : kept.shares;
    char *const *now = (char *const *)(uintptr_t)o->now;
    size_t n_declared, n_now;
    AUTO(free) char **all = NULL;

    if (r < 0 && r != -ENOENT)
        return r;
    n_declared = count(declared);
    n_now = count(now);
    all = xcalloc(n_declared + n_now + 1, sizeof(*all));
    for (size_t i = 0; i < n_declared; i++)
        all[i] = declared[i];
    for (size_t i = 0; i < n_now; i++)
        all[n_declared + i] = now[i];
    return share_rules_check(s->layout.state, all, e);
}

/* From here on it comes first in PATH, for all that this process starts. */
static int choose_slurm(struct serve *s, const struct serve_options *o, struct err *e)
{
    AUTO(choices_done) struct choices kept = {0};
    struct install_wish wish = {.named = o->slurm, .path = getenv("PATH")};
    uint32_t before = 0;
    int r = choices_read(&s->layout, &kept, e);

    if (r < 0 && r != -ENOENT)
        return r;
    wish.kept = kept.slurm;
    r = choices_check_slurm(&kept, &s->layout, o->slurm, e);
    if (r == 0)
        r = host_look(&wish, &s->host, e);
    if (r == 0 && kept.release && release_parse(str_of(kept.release), &before, NULL) == 0)
        r = install_check_step(before, s->host.slurm.release, e);
    if (r == 0 && !o->no_agent)
        r = host_find_agent(o->program, &s->host.slurm, e);
    s->no_agent = r <= 0;
    if (r >= 0)
        install_use(s->host.slurm.prefix);
    return MIN(r, 0);
}

static char *find_spank(const struct serve *s)
{
    AUTO(free) char *name = NULL;
    char series[RELEASE_TEXT_LEN];

    release_series_text(s->host.slurm.release, series);
    name = xasprintf("slurmkeeper-spank-%s.so", series);
    return host_own_program(s->program, "../spank/", name);
}

int serve_new(struct loop *l, const struct serve_options *o, struct serve **ret_serve,
              struct err *e)
{
    AUTO(serve_free) struct serve *s = xcalloc(1, sizeof(*s));
    int r;

    s->loop = l;
    s->lock = s->port_name = -1;
    s->program = xstrdup(o->program);
    s->munge = host_own_program(o->program, "../munge/", "slurmkeeper-munge");
    s->supervise = host_own_program(o->program, "../supervise/", "slurmkeeper-supervise");
    r = layout_init(&s->layout, o->state, e);
    if (r == 0)
        r = choose_slurm(s, o, e);
    if (r == 0)
        r = layout_make(&s->layout, e);
    if (r == 0)
        r = check_shares(s, o, e);
    if (r == 0)
        r = layout_lock(&s->layout, &s->lock, e);
    if (r == 0)
        r = choose(s, o, e);
    if (r == 0)
        r = layout_put_slurm(&s->layout, s->host.slurm.prefix, e);
    if (r == 0)
        r = slurms_note(s->layout.state, &s->host.slurm, e);
    if (r < 0)
        return r;
    s->spank = find_spank(s);
    s->node_socket = xasprintf("%s/node.sock", s->layout.state);
    unknown_forget(&s->layout);
    s->timer = loop_add_timer(l, on_look, s);
    start_apiserver(s);
    loop_timer_arm(s->timer, LOOK_MS);
    *ret_serve = TAKE(s);
    return 0;
}

/* One after the other, so that the last words of each are heard. */
static void stop_next(void *arg)
{
    struct serve *s = arg;

    for (size_t i = 0; i < N_PROCESSES; i++) {
        struct daemon *d = s->processes[i];

        if (!d)
            continue;
        if (daemon_pid(d) == 0) {
            s->processes[i] = daemon_free(d);
            continue;
        }
        daemon_stop(d, GRACE_MS, stop_next, s);
        return;
    }
    s->ended(s->ended_arg);
}

void serve_stop(struct serve *s, void (*ended)(void *arg), void *arg)
{
    s->ended = ended;
    s->ended_arg = arg;
    loop_timer_disarm(s->timer);
    s->clients = clients_free(s->clients);
    stop_next(s);
}

struct serve *serve_free(struct serve *s)
{
    if (!s)
        return NULL;
    clients_free(s->clients);
    for (size_t i = 0; i < N_PROCESSES; i++)
        daemon_free(s->processes[i]);
    kube_client_free(s->client);
    kube_target_free(s->target);
    loop_source_free(s->timer);
    if (s->lock >= 0)
        (void)close(s->lock);
    if (s->port_name >= 0)
        (void)close(s->port_name);
    choices_done(&s->choices);
    (void)texts_free(s->now);
    free(s->node_socket);
    layout_done(&s->layout);
    free(s->program);
    free(s->munge);
    free(s->supervise);
    free(s->spank);
    host_done(&s->host);
    free(s);
    return NULL;
}
