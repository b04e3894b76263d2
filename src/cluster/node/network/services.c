/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Services on one machine: DNS from a table, addresses by nft.
 *
 * Whatever changes, the whole directory is built again from the caches, a few milliseconds later,
 * so that a burst of changes costs one round.  DNS answers from it at once; the rules are given to
 * nft if their text is another one than before, one run at a time.  Where nft does not work, names
 * of Services lead straight to their pods instead: then a Service's port must be its pods'.
 */
#include "src/cluster/node/network/services.h"

#include <ctype.h>
#include <stdio.h>
#include <sys/wait.h>

#include "src/base/alloc.h"
#include "src/base/log.h"
#include "src/cluster/node/names/dns_server.h"
#include "src/cluster/node/network/api_relay.h"
#include "src/cluster/node/network/nat_rules.h"
#include "src/cluster/node/network/redirect.h"
#include "src/cluster/node/pods/pod_spec.h"
#include "src/cluster/node/runtime/etc_files.h"

#define SETTLE_MS 5
#define RETRY_MS 2000
#define NFT_TIMEOUT_MS 20000
#define DNS_PORT 53

struct services {
    struct node *node;
    struct directory *directory;
    struct dns_zone zone;
    struct dns_server *dns;
    struct api_relay *relay;
    struct loop_source *timer;
    struct job *nft;
    char *machine; /* its host name; or NULL */
    char *table;
    char *rules; /* as nft has them */
    char *given; /* as it is being given them */
};

static void refresh(struct services *s);

static void on_timer(void *arg)
{
    refresh(arg);
}

void services_changed(struct services *s)
{
    if (s && !loop_timer_armed(s->timer))
        loop_timer_arm(s->timer, SETTLE_MS);
}

typedef void (*add_fn)(struct directory *d, const struct jsn *object);

static void add_all(struct directory *d, const struct kube_cache *c, add_fn add)
{
    const struct kube_object *o;
    size_t at = 0;

    while (c && (o = kube_cache_next(c, &at))) {
        struct jsn *v;

        if (kube_object_parse(o, &d->arena, &v, NULL) == 0)
            add(d, v);
    }
}

/* The API server listens on loopback, which pods do not reach: a relay on the bridge does. */
static void redirect_api(struct services *s)
{
    struct directory *d = s->directory;

    for (size_t i = 0; i < d->n_services; i++) {
        struct service *v = &d->services[i];

        if (!streq(v->ns, "default") || !streq(v->name, "kubernetes") || !s->relay)
            continue;
        v->backends = arena_calloc(&d->arena, 1, sizeof(*v->backends));
        v->n_backends = 1;
        v->backends[0] = (struct backend){.ip = s->node->bridge.gateway, .ready = true};
        for (size_t k = 0; k < v->n_ports; k++)
            v->ports[k].target = jsn_int(&d->arena, api_relay_port(s->relay));
    }
}

static void on_nft(void *arg, int status, struct str output)
{
    struct services *s = arg;
    bool ok = status >= 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;

    s->nft = NULL;
    if (ok) {
        free(s->rules);
        s->rules = TAKE(s->given);
        s->zone.direct = false;
        services_changed(s);
        return;
    }
    free(s->given);
    s->given = NULL;
    if (!s->zone.direct)
        log_warn(
            "addresses of Services do not work here, their names lead to the pods: nft: " STR_FMT,
            STR_ARG(str_trim(output)));
    s->zone.direct = true;
    loop_timer_arm(s->timer, s->rules ? RETRY_MS : 60000);
}

static void give_rules(struct services *s)
{
    static const char *const argv[] = {"nft", "-f", "-", NULL};
    AUTO(buf_done) struct buf b = {0};
    struct nat_place place = {s->table, s->node->bridge.name, s->node->bridge.cidr, BRIDGE_SERVICES,
                              bridge_services_elsewhere()};
    struct job_program p = {.argv = argv, .timeout_ms = NFT_TIMEOUT_MS, .done = on_nft, .arg = s};

    if (s->nft)
        return;
    nat_rules_print(&b, s->directory, &place);
    if (s->rules && str_eq(buf_view(&b), str_of(s->rules)))
        return;
    s->given = xstrdup(buf_str(&b));
    p.input = str_of(s->given);
    s->nft = job_run(s->node->loop, &p);
}

static void refresh(struct services *s)
{
    struct directory *fresh = xcalloc(1, sizeof(*fresh));

    add_all(fresh, s->node->pods, directory_add_pod);
    add_all(fresh, s->node->services_cache, directory_add_service);
    add_all(fresh, s->node->endpoints, directory_add_endpoints);
    directory_done(s->directory);
    free(s->directory);
    s->directory = fresh;
    s->zone.directory = fresh;
    redirect_api(s);
    if (s->node->services_cache && kube_cache_synced(s->node->services_cache) &&
        kube_cache_synced(s->node->pods))
        give_rules(s);
}

static void on_iptables(void *arg, int status, struct str output)
{
    (void)arg;
    if (status < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
        log_warn("iptables: " STR_FMT, STR_ARG(str_trim(output)));
}

/* Other software (Docker, say) may have the machine drop what it forwards. */
static void on_policy(void *arg, int status, struct str output)
{
    static const char *const sides[] = {"-i", "-o"};
    struct services *s = arg;
    AUTO(free) char *text = str_dup(output);

    if (status != 0 || !strstr(text, "-P FORWARD DROP"))
        return;
    for (size_t i = 0; i < ARRAY_LEN(sides); i++) {
        AUTO(free)
        char *rule = xasprintf("-A FORWARD %s %s -j ACCEPT", sides[i], s->node->bridge.name);
        const char *const argv[] = {"iptables",           "-w", "-I",     "FORWARD", sides[i],
                                    s->node->bridge.name, "-j", "ACCEPT", NULL};
        struct job_program p = {
            .argv = argv, .timeout_ms = NFT_TIMEOUT_MS, .done = on_iptables, .arg = s};

        if (!strstr(text, rule))
            (void)job_run(s->node->loop, &p);
    }
}

static void open_forwarding(struct services *s)
{
    static const char *const argv[] = {"iptables", "-w", "-S", "FORWARD", NULL};
    struct job_program p = {
        .argv = argv, .timeout_ms = NFT_TIMEOUT_MS, .done = on_policy, .arg = s};

    (void)job_run(s->node->loop, &p);
}

static char *table_name(const char *cluster)
{
    char *name = xasprintf("slurmkeeper_%s", cluster);

    for (char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c))
            *c = '_';
    return name;
}

/* The machine's host name, owned; NULL where it has none of its own. */
static char *machine_name(void)
{
    char name[256] = "";

    if (gethostname(name, sizeof(name) - 1) < 0 || !name[0] || starts_with(name, "localhost"))
        return NULL;
    return xstrdup(name);
}

int services_new(struct node *n, struct services **ret_services, struct err *e)
{
    struct services *s = xcalloc(1, sizeof(*s));
    int r;

    s->node = n;
    s->table = table_name(n->cluster);
    s->directory = xcalloc(1, sizeof(*s->directory));
    s->machine = machine_name();
    s->zone = (struct dns_zone){.directory = s->directory,
                                .domain = CLUSTER_DOMAIN,
                                .base = n->bridge.ipam.base,
                                .prefix = n->bridge.ipam.prefix,
                                .machine = s->machine,
                                .machine_address = ipam_gateway(&n->bridge.ipam)};
    s->timer = loop_add_timer(n->loop, on_timer, s);
    r = dns_server_new(n->loop, n->bridge.gateway, DNS_PORT, &s->zone, &s->dns, e);
    if (r == 0)
        r = api_relay_new(n->loop, n->bridge.gateway, n->target->cluster->server, &s->relay, e);
    if (r < 0) {
        (void)services_free(s);
        return r;
    }
    open_forwarding(s);
    *ret_services = s;
    return 0;
}

struct services *services_free(struct services *s)
{
    if (!s)
        return NULL;
    (void)job_cancel(s->nft);
    (void)dns_server_free(s->dns);
    (void)api_relay_free(s->relay);
    (void)loop_source_free(s->timer);
    directory_done(s->directory);
    free(s->directory);
    free(s->machine);
    free(s->table);
    free(s->rules);
    free(s->given);
    free(s);
    return NULL;
}

static void upper(char *text)
{
    for (; *text; text++)
        *text = (char)(*text == '-' ? '_' : toupper((unsigned char)*text));
}

const char **node_service_env(struct node *n, struct arena *a, const struct pod_spec *p)
{
    const struct directory *d = n->services->directory;
    bool all = jsn_get_bool(p->json, "spec.enableServiceLinks", true);
    const char **env = arena_calloc(a, d->n_services * 2 + 3, sizeof(*env));
    size_t k = 0;

    for (size_t i = 0; i < d->n_services; i++) {
        const struct service *s = &d->services[i];
        bool api = streq(s->ns, "default") && streq(s->name, "kubernetes");
        char *name;

        if (!s->cluster_ip || s->n_ports == 0 || !(api || (all && streq(s->ns, p->ns))))
            continue;
        name = arena_strdup(a, s->name);
        upper(name);
        env[k++] = arena_printf(a, "%s_SERVICE_HOST=%s", name, s->cluster_ip);
        env[k++] = arena_printf(a, "%s_SERVICE_PORT=%u", name, s->ports[0].port);
    }
    return env;
}

/* Run a program to its end, its output dropped. */
static void run(const char *const *argv, struct str input)
{
    int in[2];
    pid_t pid;

    if (pipe(in) < 0)
        return;
    pid = fork();
    if (pid == 0) {
        redirect(in[0], 0);
        (void)close(in[1]);
        (void)!freopen("/dev/null", "w", stdout);
        (void)!freopen("/dev/null", "w", stderr);
        (void)execvp(argv[0], (char *const *)(uintptr_t)argv);
        _exit(127);
    }
    (void)close(in[0]);
    (void)!write(in[1], input.p, input.n);
    (void)close(in[1]);
    if (pid > 0)
        (void)waitpid(pid, NULL, 0);
}

void services_purge(const char *cluster)
{
    static const char *const nft[] = {"nft", "-f", "-", NULL};
    static const char *const sides[] = {"-i", "-o"};
    AUTO(buf_done) struct buf b = {0};
    AUTO(free) char *table = table_name(cluster);
    char bridge[16];

    nat_rules_print_removal(&b, table);
    run(nft, buf_view(&b));
    bridge_name(cluster, bridge);
    for (size_t i = 0; i < ARRAY_LEN(sides); i++) {
        const char *const argv[] = {"iptables", "-w", "-D",     "FORWARD", sides[i],
                                    bridge,     "-j", "ACCEPT", NULL};

        run(argv, (struct str){"", 0});
    }
}
