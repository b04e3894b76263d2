/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Putting the agent together.
 *
 *   mount --watch--> engine --link--> libslurm's children --> slurmctld
 *   push  --routes--^  |  ^                                       |
 *                 store|  '--- hub <------------------------------'
 *                      v        '--> watchers
 *                 live files
 *
 * A set that comes by the mount is a declaration like a pushed one, unless it was pushed before:
 * then it is late news, for the kubelet takes its time.  One that is refused is tried again with
 * growing pauses: what it needs may come.  But not one that slurmctld has ended on.
 */
#include "src/agent/agent.h"

#include <signal.h>
#include <sys/stat.h>

#include "src/agent/crash.h"
#include "src/agent/identity.h"
#include "src/agent/installed.h"
#include "src/agent/orphans.h"
#include "src/agent/routes.h"
#include "src/agent/watch.h"
#include "src/base/alloc.h"
#include "src/base/descriptors.h"
#include "src/base/file.h"
#include "src/base/log.h"
#include "src/slurm/keyfiles.h"

#define MAX_BODY_BYTES ((size_t)40 << 20) /* 16 MiB of files, as JSON at its worst */
#define MAX_CONNECTIONS 4096
#define MAX_STRANGERS 64
#define MAX_STRANGER_BYTES ((size_t)2 << 20) /* this process has 7 MiB when nobody asks */
#define AGAIN_FIRST_MS 2000
#define AGAIN_MOST_MS 60000
#define AFTER_PUSH_MS 100

struct agent {
    const struct agent_options *o;
    struct installed slurm;
    struct loop *loop;
    struct link *link;
    struct store *store;
    struct hub *hub;
    struct engine *engine;
    struct metrics *metrics;
    struct watch *watch;
    struct orphans orphans;
    struct identity *identity;
    struct http_server *https;
    struct http_server *local;
    struct routes https_routes;
    struct routes local_routes;
    struct loop_source *on_term;
    struct loop_source *on_int;
    int64_t again_ms;                  /* until a refused mount is tried once more */
    char refused[SHA256_HEX_LEN + 1];  /* that mount */
    char standing[SHA256_HEX_LEN + 1]; /* and what was declared then */
};

static void on_up(void *arg)
{
    struct agent *a = arg;

    engine_on_up(a->engine);
}

/* slurmctld's start script notes it, and slurmkeeper-munge. */
static void key_stage_look(struct agent *a)
{
    AUTO(free) char *text = NULL;
    size_t n = 0;

    if (a->o->key_stage[0] && file_exists(a->o->key_stage) &&
        file_read(a->o->key_stage, HUB_KEY_STAGE_MAX + 1, &text, &n, NULL) == 0)
        hub_set_key_stage(a->hub, str_trim((struct str){text, n}));
}

static void on_round(void *arg)
{
    struct agent *a = arg;

    key_stage_look(a);
    orphans_reap(&a->orphans);
    engine_on_round(a->engine);
}

static void on_mount_answer(void *arg, int status, const struct jsn *answer)
{
    struct agent *a = arg;

    const struct record *declared = engine_declared(a->engine);

    if (status == 200) {
        a->again_ms = 0;
        a->refused[0] = '\0';
        return;
    }
    if (jsn_get_bool(answer, "ended", false)) {
        a->again_ms = 0;
        a->refused[0] = '\0';
        log_warn("the mounted files were refused, and are not tried again until they change: %s",
                 jsn_get_str(answer, "error"));
        return;
    }
    memcpy(a->standing, declared ? declared->hash : "", declared ? sizeof(a->standing) : 1);
    a->again_ms = MIN(MAX(a->again_ms * 2, AGAIN_FIRST_MS), AGAIN_MOST_MS);
    log_warn("the mounted files were refused, trying again in %lld s: %s",
             (long long)(a->again_ms / 1000), jsn_get_str(answer, "error"));
    watch_again(a->watch, a->again_ms);
}

/* Keys are compared with the live ones: those are what slurmctld has read. */
static void keys_look(struct agent *a, const struct fileset *keys)
{
    AUTO(fileset_done) struct fileset live = {0};
    AUTO(fileset_done) struct fileset live_keys = {0};
    bool changed = false;
    bool restart = false; /* munge follows its keys by itself */
    struct err e = {0};

    if (keys->n == 0 || fileset_read(a->o->live, &live, &e) < 0)
        return;
    fileset_split_keys(&live, &live_keys);
    for (size_t i = 0; i < keys->n; i++) {
        const struct fileset_file *f = &keys->files[i];
        const struct fileset_file *now = fileset_get(&live_keys, f->name);
        const struct keyfile *known = keyfile_find(str_of(f->name));

        if (now && now->n == f->n && memcmp(now->text, f->text, f->n) == 0)
            continue;
        changed = true;
        restart |= !known || known->slurm;
    }
    if (changed)
        engine_keys(a->engine, keys, restart);
}

/* A refused set is worth another try as long as nothing newer has been declared. */
static bool is_due_again(const struct agent *a, const char *hash)
{
    const struct record *declared = engine_declared(a->engine);

    return streq(a->refused, hash) && streq(a->standing, declared ? declared->hash : "");
}

/* Was this set, or as much of it as pushes have, pushed before? */
static bool is_known(const struct agent *a, const struct fileset *files)
{
    const struct record *declared = engine_declared(a->engine);
    char hash[SHA256_HEX_LEN + 1];

    fileset_hash(files, hash);
    if (is_due_again(a, hash))
        return false;
    if (store_knows(a->store, hash))
        return true;
    if (!declared)
        return false;
    fileset_hash_within(files, &declared->files, hash);
    return store_knows(a->store, hash);
}

static void on_mount(void *arg, const struct fileset *files)
{
    struct agent *a = arg;
    const struct record *declared = engine_declared(a->engine);
    struct record *r;
    AUTO(fileset_done) struct fileset keys = {0};

    if (engine_has_waiting(a->engine)) {
        /* it is newer, and whoever sent it must not get this one's answer */
        watch_again(a->watch, AFTER_PUSH_MS);
        return;
    }
    r = record_new();
    fileset_copy(files, &r->files);
    fileset_split_keys(&r->files, &keys);
    keys_look(a, &keys);
    if (r->files.n == 0 || is_known(a, &r->files)) {
        (void)record_free(r);
        return;
    }
    fileset_open_modes(&r->files);
    fileset_hash(&r->files, r->hash);
    if (declared) {
        r->generation = declared->generation;
        r->revert = declared->revert;
        r->restarts = declared->restarts;
    }
    memcpy(a->refused, r->hash, sizeof(a->refused));
    log_info("'%s' has changed", a->o->mount);
    (void)engine_push(a->engine, r, on_mount_answer, a);
}

static int serve(struct agent *a, struct routes *routes, struct identity *identity,
                 const char *address, struct http_server **ret, struct err *e)
{
    struct http_server_options o = {.handler = routes_handle,
                                    .arg = routes,
                                    .head = identity ? routes_head : NULL,
                                    .refusal = routes_refuse,
                                    .limits = {.max_body_bytes = MAX_BODY_BYTES,
                                               .max_bodies_bytes = 2 * MAX_BODY_BYTES,
                                               .max_connections = MAX_CONNECTIONS,
                                               .max_strangers = MAX_STRANGERS,
                                               .max_stranger_bytes = MAX_STRANGER_BYTES},
                                    .tls = identity ? identity_tls(identity) : NULL};
    int r;

    *routes = (struct routes){.loop = a->loop,
                              .link = a->link,
                              .hub = a->hub,
                              .engine = a->engine,
                              .metrics = a->metrics,
                              .token = identity ? identity_token(identity) : NULL,
                              .next_token = identity ? identity_next_token(identity) : NULL};
    r = http_server_new(a->loop, &o, ret, e);
    if (r == 0)
        r = http_server_listen(*ret, address, e);
    return r;
}

static int servers_start(struct agent *a, struct err *e)
{
    int r = 0;

    if (a->o->listen[0]) {
        r = identity_new(a->loop, a->o->identity, &a->identity, e);
        if (r == 0)
            r = serve(a, &a->https_routes, a->identity, a->o->listen, &a->https, e);
        if (r == 0)
            log_info("serving HTTPS on port %d", http_server_port(a->https));
    }
    if (r == 0 && a->o->socket) {
        AUTO(free) char *address = xasprintf("unix:%s", a->o->socket);

        r = serve(a, &a->local_routes, NULL, address, &a->local, e);
    }
    return r;
}

static void on_signal(void *arg, int signo)
{
    struct agent *a = arg;

    log_info("signal %d: ending", signo);
    loop_stop(a->loop, 0);
}

/* Is there a directory for it? */
static bool has_place(const char *path)
{
    AUTO(free) char *dir = xstrdup(path);
    char *slash = strrchr(dir, '/');
    struct stat st;

    if (!path[0] || !slash)
        return false;
    *slash = '\0';
    return stat(dir, &st) == 0 && S_ISDIR(st.st_mode);
}

static void link_make(struct agent *a)
{
    AUTO(free) char *conf = xasprintf("%s/slurm.conf", a->o->live);
    struct link_options link = {
        .program = a->slurm.worker, .slurm_conf = conf, .library_path = a->slurm.library_path};
    struct hub_events events = {.on_up = on_up, .on_round = on_round};

    a->link = link_new(a->loop, &link);
    a->hub = hub_new(a->loop, a->link, &events, a);
    a->metrics = metrics_new();
    metrics_watch(a->metrics, a->hub, a->link);
}

static int start(struct agent *a, struct err *e)
{
    struct engine_options engine = {0};
    int r = store_open(a->o->live, &a->store, e);

    if (r < 0)
        return r;
    installed_find(a->o, &a->slurm);
    link_make(a);
    engine = (struct engine_options){
        .loop = a->loop,
        .link = a->link,
        .store = a->store,
        .hub = a->hub,
        .metrics = a->metrics,
        .slurmctld = a->slurm.slurmctld,
        .proven = has_place(a->o->proven) ? a->o->proven : NULL,
        .marker = has_place(a->o->marker) ? a->o->marker : NULL,
    };
    if (!engine.slurmctld)
        log_warn("no slurmctld %s: new configurations are checked, but not rehearsed",
                 a->o->slurmctld ? "at the given place" : "in PATH");
    a->engine = engine_new(&engine);
    crash_point("start: record read");
    r = engine_start(a->engine, e);
    if (r == 0)
        r = servers_start(a, e);
    if (r < 0)
        return r;
    hub_start(a->hub);
    if (a->o->mount[0])
        a->watch = watch_new(a->loop, a->o->mount, on_mount, a);
    a->on_term = loop_add_signal(a->loop, SIGTERM, on_signal, a);
    a->on_int = loop_add_signal(a->loop, SIGINT, on_signal, a);
    log_info("Start '%s' polling", a->o->live);
    return 0;
}

static void stop(struct agent *a)
{
    (void)loop_source_free(a->on_term);
    (void)loop_source_free(a->on_int);
    (void)watch_free(a->watch);
    (void)http_server_free(a->https);
    (void)http_server_free(a->local);
    (void)identity_free(a->identity);
    (void)link_free(a->link);
    (void)engine_free(a->engine);
    (void)hub_free(a->hub);
    installed_done(&a->slurm);
    (void)metrics_free(a->metrics);
    (void)store_free(a->store);
}

int agent_run(const struct agent_options *o, struct err *e)
{
    AUTO(loop_free) struct loop *loop = NULL;
    struct agent a = {.o = o};
    int r;

    if (!o->listen[0] && !o->socket)
        return err_bad(e, "neither --listen nor --socket: nobody could ask for anything");
    descriptors_raise();
    r = loop_new(&loop, e);
    if (r < 0)
        return r;
    a.loop = loop;
    r = start(&a, e);
    if (r == 0)
        r = loop_run(loop);
    stop(&a);
    return r;
}
