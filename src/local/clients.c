/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The machine's own Slurm commands.
 *
 * For each Controller: its key, its configuration, the addresses of its Service and its workers, as
 * they are in the API, become a directory that SLURM_CONF can point into.  Each has a daemon that
 * signs what commands ask: a munged with the cluster's keys and a socket in that directory, or a
 * sackd (sack.c).  Keys are those that pods have (Secret <name>-keys), so that all change together.
 * The machine's own munge, sackd and /etc/slurm are not touched.  Whatever of the sources changes,
 * everything is looked at again: there is little of it, and files that stay the same are not
 * written.
 */
#include "src/local/clients.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "src/api/controller.h"
#include "src/base/alloc.h"
#include "src/base/file.h"
#include "src/base/log.h"
#include "src/build/labels.h"
#include "src/build/live_keys.h"
#include "src/kube/cache.h"
#include "src/local/client_conf.h"
#include "src/local/client_plugins.h"
#include "src/local/daemon.h"
#include "src/local/sack.h"
#include "src/slurm/keyfiles.h"

#define LATER_MS 5000

enum source { CONTROLLERS, CONFIG_MAPS, SECRETS, SERVICES, PODS, N_SOURCES };

static const struct kube_resource resources[N_SOURCES] = {
    [CONTROLLERS] = {API_GROUP, API_VERSION, "controllers"},
    [CONFIG_MAPS] = {"", "v1", "configmaps"},
    [SECRETS] = {"", "v1", "secrets"},
    [SERVICES] = {"", "v1", "services"},
    [PODS] = {"", "v1", "pods"},
};

struct entry {
    struct daemon *signer;
    bool munge; /* the signer is munged, and not sackd */
    bool seen;
    bool told;    /* why there is no signer */
    char *socket; /* of a sackd that has a directory of its own; or NULL */
};

struct clients {
    const struct layout *layout;
    struct loop *loop;
    struct kube_cache *caches[N_SOURCES];
    struct map entries; /* directory -> struct entry */
    struct loop_source *timer;
    struct loop_source *later; /* another look, though nothing has changed */
    struct clients_options o;
};

/* One Controller, while its directory is made. */
struct making {
    struct clients *c;
    struct arena *a;
    const struct controller *ctl;
    const char *ns;
    const char *dir;
    struct str plugstack; /* the cluster's own */
};

/* The directory is nobody else's: it goes with its sackd. */
static void forget_socket(struct entry *x)
{
    char *slash;

    if (!x->socket)
        return;
    (void)unlink(x->socket);
    slash = strrchr(x->socket, '/');
    *slash = '\0';
    (void)rmdir(x->socket);
    free(TAKE(x->socket));
}

/*
 * A sackd that has read its keys again is no child of its supervisor's child any more, and would
 * outlive a supervisor that is killed: it is asked first, which takes a moment.
 */
static void signer_end(struct entry *x)
{
    struct timespec pause = {.tv_nsec = 10000000};
    pid_t pid = x->signer ? daemon_pid(x->signer) : 0;
    siginfo_t ended = {0};

    if (pid > 0 && kill(pid, SIGTERM) == 0)
        for (int i = 0; i < 100 && ended.si_pid == 0; i++) {
            if (waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOHANG | WNOWAIT) < 0)
                break;
            if (ended.si_pid == 0)
                (void)nanosleep(&pause, NULL);
        }
    x->signer = daemon_free(x->signer);
}

static void entry_free(void *p)
{
    struct entry *x = p;

    signer_end(x);
    forget_socket(x);
    free(x);
}

static const struct jsn *find(const struct making *m, enum source s, const char *name)
{
    const struct kube_object *o = kube_cache_get(m->c->caches[s], m->ns, name);
    struct jsn *v = NULL;

    return o && kube_object_parse(o, m->a, &v, NULL) == 0 ? v : NULL;
}

/* The files of the cluster's keys, as its pods have them: each is there, or there is none yet. */
static int write_keys(const struct making *m, bool *ret_changed, struct err *e)
{
    static const char *const files[] = {KEYFILE_MUNGE_RING, KEYFILE_SLURM_SET, KEYFILE_SLURM};
    const char *name = labels_keys(m->a, m->ctl->meta.name);
    const struct jsn *secret = find(m, SECRETS, name);
    bool any = false;

    *ret_changed = false;
    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        struct str key = build_secret_bytes(m->a, secret, files[i]);
        bool changed = false;
        int r = 0;

        if (key.n)
            r = file_update(arena_printf(m->a, "%s/%s", m->dir, files[i]), key, 0400, &changed, e);
        if (r < 0)
            return r;
        any |= key.n > 0;
        *ret_changed |= changed;
    }
    return any ? 0
               : err_set(e, -ENOENT, ERR_RETRY, "its keys, Secret '%s', are not there yet", name);
}

/* The other files of the cluster, which commands may read, such as topology.conf. */
static int write_files(struct making *m, const struct jsn *map, struct err *e)
{
    int r = 0;

    JSN_FOR_MEMBERS (f, jsn_key(map, "data")) {
        const char *path = arena_printf(m->a, "%s/" STR_FMT, m->dir, STR_ARG(f->key));
        bool changed;

        if (jsn_text(f->value) && str_eqz(f->key, "plugstack.conf"))
            m->plugstack = f->value->s;
        else if (r == 0 && jsn_text(f->value) && !str_eqz(f->key, "slurm.conf") &&
                 !memchr(f->key.p, '/', f->key.n))
            r = file_update(path, f->value->s, 0644, &changed, e);
    }
    return r;
}

/* The address of the Service of that name; NULL: none is called so. */
static const char *address_of(const struct making *m, const char *service)
{
    const char *address =
        service ? jsn_get_str(find(m, SERVICES, service), "spec.clusterIP") : NULL;

    return streq(address, "None") ? NULL : address;
}

/* Workers are dynamic nodes: where they are, their pods tell. */
static void add_nodes(const struct making *m, struct client_place *place)
{
    const struct kube_object *o;
    size_t at = 0;
    size_t cap = 0;

    while ((o = kube_cache_next(m->c->caches[PODS], &at))) {
        struct jsn *pod = NULL;
        const struct jsn *labels;

        if (!streq(o->namespace, m->ns) || kube_object_parse(o, m->a, &pod, NULL) < 0)
            continue;
        labels = jsn_get(pod, "metadata.labels");
        if (!streq(jsn_text(jsn_key(labels, LABEL_CLUSTER)), m->ctl->meta.name) ||
            !jsn_get_str(pod, "status.podIP"))
            continue;
        arena_reserve(m->a, &place->nodes, &cap, place->n_nodes + 1, sizeof(*place->nodes));
        place->nodes[place->n_nodes++] = (struct client_node){
            jsn_text(jsn_key(labels, LABEL_POD_HOSTNAME)), jsn_get_str(pod, "status.podIP")};
    }
}

static int write_conf(const struct making *m, const struct jsn *map, const char *address,
                      bool *ret_munge, struct err *e)
{
    AUTO(faults_done) struct faults faults = {0};
    AUTO(conf_free) struct conf *conf = NULL;
    AUTO(buf_done) struct buf text = {0};
    const struct jsn *file = jsn_member(jsn_key(map, "data"), STR("slurm.conf"));
    const char *path = arena_printf(m->a, "%s/slurm.conf", m->dir);
    struct conf_input in = {.kind = CONF_SLURM, .name = "slurm.conf"};
    struct client_place place = {
        .host = arena_printf(m->a, "%s-0", labels_controller(m->a, m->ctl->meta.name)),
        .address = address};
    bool changed;
    int r;

    if (!jsn_text(file))
        return err_set(e, -ENOENT, ERR_RETRY, "its configuration is not there yet");
    in.text = file->s;
    r = conf_parse(&in, &faults, &conf, e);
    if (r < 0)
        return r;
    *ret_munge = client_conf_uses_munge(conf);
    place.slurmdbd = address_of(m, client_conf_slurmdbd(conf));
    if (*ret_munge)
        place.munge_socket = arena_printf(m->a, "%s/munge.socket", m->dir);
    add_nodes(m, &place);
    client_conf_print(conf, &place, &text);
    return file_update(path, buf_view(&text), 0644, &changed, e);
}

/* It follows the keys by itself. */
static int start_munged(const struct making *m, struct entry *x, struct err *e)
{
    const char *log =
        arena_printf(m->a, "%s/munged-%s-%s.log", m->c->layout->logs, m->ns, m->ctl->meta.name);
    const char *const argv[] = {m->c->o.munge, arena_printf(m->a, "%s/" KEYFILE_MUNGE_RING, m->dir),
                                arena_printf(m->a, "%s/munge.socket", m->dir),
                                arena_printf(m->a, "%s/munged", m->dir), NULL};
    struct daemon_options o = {.name =
                                   arena_printf(m->a, "munged of %s/%s", m->ns, m->ctl->meta.name),
                               .argv = argv,
                               .log = log};

    if (!m->c->o.munge)
        return err_set(e, -ENOENT, ERR_PERMANENT, "slurmkeeper-munge is not beside slurmkeeper");
    x->signer = daemon_new(m->c->loop, &o);
    return 0;
}

/* Where commands must look for the socket, if they would not look there by themselves. */
static int note_socket(const struct making *m, const char *socket, struct err *e)
{
    const char *path = arena_printf(m->a, "%s/" CLIENTS_SACK, m->dir);

    if (unlink(path) < 0 && errno != ENOENT)
        return err_errno(e, errno, "cannot remove '%s'", path);
    if (socket && symlink(socket, path) < 0)
        return err_errno(e, errno, "cannot make '%s'", path);
    return 0;
}

static int start_sackd(const struct making *m, struct entry *x, struct err *e)
{
    struct sack_options o = {.supervise = m->c->o.supervise,
                             .release = m->c->o.release,
                             .cluster = controller_cluster_name(m->a, m->ctl),
                             .conf = arena_printf(m->a, "%s/slurm.conf", m->dir),
                             .name = arena_printf(m->a, "sackd of %s/%s", m->ns, m->ctl->meta.name),
                             .log = arena_printf(m->a, "%s/sackd-%s-%s.log", m->c->layout->logs,
                                                 m->ns, m->ctl->meta.name)};

    const char *socket = NULL;
    int r;

    if (!o.supervise)
        return err_set(e, -ENOENT, ERR_PERMANENT,
                       "slurmkeeper-supervise is not beside slurmkeeper, and sackd needs it");
    o.own = arena_printf(m->a, "slurmkeeper-%s-%s-%s", m->c->o.name, m->ns, m->ctl->meta.name);
    forget_socket(x); /* of the one before */
    r = sack_start(m->c->loop, m->a, &o, &x->signer, &socket, e);
    if (r < 0)
        return r;
    x->socket = xstrdup_null(socket);
    return note_socket(m, socket, e);
}

/*
 * One that cannot be had now may be had later: whoever is in its way may go.  Until then a file
 * says why, for those who wait for commands to work.
 */
static void start_signer(const struct making *m, struct entry *x)
{
    const char *trouble = arena_printf(m->a, "%s/" CLIENTS_TROUBLE, m->dir);
    struct err e = {0};

    if ((x->munge ? start_munged(m, x, &e) : start_sackd(m, x, &e)) < 0) {
        if (!x->told && file_write(trouble, str_of(e.text), 0644, NULL) < 0)
            log_warn("'%s' cannot be written", trouble);
        if (!x->told)
            log_warn("commands for Controller %s/%s do not work on this machine: %s", m->ns,
                     m->ctl->meta.name, e.text);
        x->told = true;
        loop_timer_arm(m->c->later, LATER_MS);
    }
    if (x->signer)
        (void)unlink(trouble);
}

/* munge follows them by itself; sackd reads them again, and keeps its socket open meanwhile. */
static void reload_keys(const struct entry *x)
{
    pid_t pid = x->signer && !x->munge ? daemon_pid(x->signer) : 0;

    if (pid > 0)
        (void)kill(pid, SIGHUP);
}

static struct entry *entry_of(const struct making *m)
{
    struct entry *x = map_get(&m->c->entries, str_of(m->dir));

    if (!x) {
        x = xcalloc(1, sizeof(*x));
        map_put(&m->c->entries, str_of(m->dir), x);
    }
    x->seen = true;
    return x;
}

static int write_plugins(const struct making *m, struct err *e)
{
    char *const *const lists[] = {m->c->o.shares, m->c->o.shares_now};
    struct client_plugin p = {m->c->o.spank, lists, ARRAY_LEN(lists)};

    return client_plugins_write(&p, m->dir, m->plugstack, e);
}

static int make(struct making *m, struct err *e)
{
    const char *service_name = labels_controller(m->a, m->ctl->meta.name);
    const char *address = address_of(m, service_name);
    const struct jsn *map = find(m, CONFIG_MAPS, labels_config(m->a, m->ctl->meta.name));
    struct entry *x = entry_of(m);
    bool new_key = false;
    bool munge = false;
    int r;

    if (!address)
        return err_set(e, -ENOENT, ERR_RETRY, "its Service '%s' is not there yet", service_name);
    r = file_make_dirs(m->dir, 0755, e);
    if (r == 0)
        r = write_keys(m, &new_key, e);
    if (r == 0)
        r = write_files(m, map, e);
    for (size_t i = 0; r == 0 && i < m->ctl->spec.config_file_refs.n; i++)
        r = write_files(m, find(m, CONFIG_MAPS, m->ctl->spec.config_file_refs.items[i].name), e);
    if (r == 0)
        r = write_plugins(m, e);
    if (r == 0)
        r = write_conf(m, map, address, &munge, e);
    if (r < 0)
        return r;
    if (munge != x->munge)
        signer_end(x);
    else if (new_key)
        reload_keys(x);
    x->munge = munge;
    if (!x->signer)
        start_signer(m, x);
    return 0;
}

static void look_at(struct clients *c, const struct kube_object *o)
{
    AUTO(arena_done) struct arena a = {0};
    struct making m = {.c = c, .a = &a, .ns = o->namespace};
    struct controller ctl;
    struct err e = {0};
    struct jsn *v;

    if (kube_object_parse(o, &a, &v, &e) < 0 || controller_decode(&a, v, &ctl, &e) < 0 ||
        ctl.spec.external)
        return;
    m.ctl = &ctl;
    m.dir = arena_printf(&a, "%s/%s/%s", c->layout->clients, o->namespace, o->name);
    if (make(&m, &e) < 0 && e.num != -ENOENT)
        log_warn("commands for Controller %s/%s: %s", o->namespace, o->name, e.text);
}

/* Controllers that are gone lose their directory. */
static void sweep(struct clients *c)
{
    struct str dir;
    struct entry *x;
    size_t at = 0;

    while (map_next(&c->entries, &at, &dir, &x)) {
        AUTO(free) char *path = str_dup(dir);
        struct err e = {0};

        if (x->seen) {
            x->seen = false;
            continue;
        }
        map_del(&c->entries, str_of(path));
        if (file_remove_tree(path, &e) < 0)
            log_warn("%s", e.text);
    }
}

static void on_timer(void *arg)
{
    struct clients *c = arg;
    const struct kube_object *o;
    size_t at = 0;

    for (size_t i = 0; i < N_SOURCES; i++)
        if (!kube_cache_synced(c->caches[i]))
            return;
    while ((o = kube_cache_next(c->caches[CONTROLLERS], &at)))
        look_at(c, o);
    sweep(c);
}

/* Many changes of one moment are looked at together. */
static void changed(struct clients *c)
{
    if (!loop_timer_armed(c->timer))
        loop_timer_arm(c->timer, 10);
}

static void on_added(void *arg, const struct kube_object *o)
{
    (void)o;
    changed(arg);
}

static void on_updated(void *arg, const struct kube_object *old, const struct kube_object *o)
{
    (void)old;
    on_added(arg, o);
}

static void on_deleted(void *arg, const struct kube_object *o, bool is_final)
{
    (void)is_final;
    on_added(arg, o);
}

static void on_synced(void *arg)
{
    changed(arg);
}

struct clients *clients_new(struct kube_client *k, const struct layout *l,
                            const struct clients_options *o)
{
    struct clients *c = xcalloc(1, sizeof(*c));
    struct kube_handler h = {on_added, on_updated, on_deleted, on_synced, c};

    c->layout = l;
    c->o = *o;
    c->loop = kube_client_loop(k);
    map_init(&c->entries, entry_free);
    c->timer = loop_add_timer(c->loop, on_timer, c);
    c->later = loop_add_timer(c->loop, on_timer, c);
    for (size_t i = 0; i < N_SOURCES; i++) {
        struct kube_cache_options of = {.reflector.scope.resource = resources[i]};

        if (i == PODS)
            of.reflector.scope.label_selector = LABEL_CLUSTER;
        c->caches[i] = kube_cache_new(k, &of);
        kube_cache_add_handler(c->caches[i], &h);
    }
    return c;
}

struct clients *clients_free(struct clients *c)
{
    if (!c)
        return NULL;
    for (size_t i = 0; i < N_SOURCES; i++)
        kube_cache_free(c->caches[i]);
    map_done(&c->entries);
    loop_source_free(c->timer);
    loop_source_free(c->later);
    free(c);
    return NULL;
}
