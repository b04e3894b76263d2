/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurmkeeper restore: bring a backup back, onto this machine or a fresh one.
 *
 *   checked --> unpacked beside --> opened and checked --> old files put aside --> new ones in
 * place
 *
 * A cluster that is served is refused, and so is a damaged file; until the last two steps nothing
 * of the cluster is touched, and what was there stays in before-restore-TIME.  The store begins a
 * new epoch above every version that was shown here.  Pods that run and that it does not know are
 * kept by the node then (`recover`).
 *
 * Claims that are there are not replaced: slurmctld's state of now knows the jobs of now.  On a
 * machine of another name no pod of the backup runs, nor in another directory (--moved): they are
 * taken out of the store, and their owners make them again (restore_adapt.c).
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>

#include "src/base/alloc.h"
#include "src/base/clock.h"
#include "src/base/encode.h"
#include "src/base/file.h"
#include "src/cli/reach.h"
#include "src/cli/restore_adapt.h"
#include "src/cli/verbs.h"
#include "src/cluster/apiserver/mark.h"
#include "src/cluster/node/node.h"
#include "src/json/jsn.h"
#include "src/local/archive.h"

#define MAX_SHOWN 20

struct restore {
    struct layout layout;
    struct store_place place;
    struct arena arena;
    struct jsn *manifest;
    char *stage;
    char *aside;
    bool moved;   /* the cluster leaves the directory that it was in */
    int64_t seen; /* the newest version that was shown here */
    size_t made;  /* objects that were made since, and removed since */
    size_t removed;
};

static int read_manifest(struct restore *v, struct err *e)
{
    AUTO(free) char *path = xasprintf("%s/manifest.json", v->stage);
    AUTO(free) char *text = NULL;
    size_t n;
    int r = file_read(path, 65536, &text, &n, e);

    if (r == 0)
        r = jsn_parse(&v->arena, (struct str){arena_str(&v->arena, (struct str){text, n}), n}, NULL,
                      &v->manifest, e);
    if (r < 0)
        return err_wrap(e, r, "the backup has no manifest");
    if (jsn_get_int(v->manifest, "format", 0) != 1)
        return err_set(e, -EPROTO, ERR_PERMANENT,
                       "the backup has a format that this release does not know; use release %s",
                       jsn_get_str(v->manifest, "release"));
    if (!jsn_get_str(v->manifest, "state") || !jsn_get_str(v->manifest, "host"))
        return err_set(e, -EBADMSG, ERR_PERMANENT, "the backup does not say where it was made");
    return 0;
}

/* Two clusters out of one would run the same jobs twice. */
static int check_place(struct restore *v, struct err *e)
{
    const char *state = jsn_get_str(v->manifest, "state");
    AUTO(layout_done) struct layout old = {0};
    int r;

    if (streq(state, v->layout.state))
        return 0;
    if (!v->moved)
        return err_set(e, -EINVAL, ERR_PERMANENT,
                       "the backup is of a cluster in '%s': restore it there (--state %s), or, if "
                       "that one is not used any more, restore it here with --moved",
                       state, state);
    r = layout_init(&old, state, e);
    if (r == 0 && (layout_holder(&old) != 0 || node_pods_run(state)))
        r = err_set(e, -EBUSY, ERR_PERMANENT,
                    "the cluster in '%s' runs on this machine: its jobs would run twice. Take it "
                    "down first ('slurmkeeper down --state %s')",
                    state, state);
    return r;
}

/* The copy must open, with its keys, before anything is replaced. */
static int try_store(struct restore *v, struct err *e)
{
    AUTO(free) char *path = xasprintf("%s/api.db", v->stage);
    AUTO(free) char *keys = xasprintf("%s/keys/store.key", v->stage);
    struct store_options o = {.path = path, .keys = keys};
    AUTO(store_free) struct store *s = NULL;

    if (!file_exists(path))
        return err_set(e, -EBADMSG, ERR_PERMANENT, "the backup has no database");
    return store_open(&o, &s, e);
}

static void note_seen(struct restore *v, const char *path)
{
    struct mark_point p;
    enum mark_found found;

    if (path && mark_read(path, &found, &p, NULL) == 0 && found == MARK_WHOLE)
        v->seen = MAX(v->seen, p.version);
}

static void show_difference(void *arg, bool made, const struct store_key *k)
{
    struct restore *v = arg;
    size_t *n = made ? &v->made : &v->removed;

    if (streq(k->resource, "events") || streq(k->resource, "leases.coordination.k8s.io"))
        return;
    if (++*n <= MAX_SHOWN)
        (void)printf("  %s %s%s%s\n",
                     made ? "made since, and lost:     " : "removed since, and back: ", k->resource,
                     k->ns[0] ? " " : "", arena_printf(&v->arena, "%s/%s", k->ns, k->name));
}

/* What is lost between the backup and now, as far as what is here can still tell. */
static void tell_loss(struct restore *v)
{
    AUTO(free) char *older = xasprintf("%s/api.db", v->stage);
    int64_t version = jsn_get_int(v->manifest, "version", 0);
    struct err e = {0};

    (void)printf("backup of %s, version %lld, made %s by release %s\n",
                 jsn_get_str(v->manifest, "host"), (long long)version,
                 jsn_get_str(v->manifest, "created"), jsn_get_str(v->manifest, "release"));
    if (v->seen > version)
        (void)printf("writes after it, up to version %lld, are lost\n", (long long)v->seen);
    if (!file_exists(v->place.options.path))
        return;
    if (store_difference(v->place.options.path, older, show_difference, v, &e) < 0)
        (void)printf("what they were cannot be told: %s\n", e.text);
    if (v->made > MAX_SHOWN || v->removed > MAX_SHOWN)
        (void)printf("  (%zu objects were made since, and %zu removed)\n", v->made, v->removed);
}

static int move(const char *from_dir, const char *to_dir, const char *name, struct err *e)
{
    AUTO(free) char *from = xasprintf("%s/%s", from_dir, name);
    AUTO(free) char *to = xasprintf("%s/%s", to_dir, name);

    if (!file_exists(from))
        return 0;
    return rename(from, to) < 0 ? err_errno(e, errno, "cannot move '%s' to '%s'", from, to) : 0;
}

/* The mark goes first and comes last: what is interrupted in between is refused by the server. */
static int exchange(struct restore *v, struct err *e)
{
    static const char *const old[] = {"api.mark", "api.db", "api.db-wal",   "api.db-shm",
                                      "keys",     "pki",    "cluster.json", "admin.kubeconfig"};
    static const char *const fresh[] = {"keys", "pki", "cluster.json", "api.db"};
    int r = file_make_dirs(v->aside, 0700, e);

    for (size_t i = 0; r == 0 && i < ARRAY_LEN(old); i++)
        r = move(v->layout.state, v->aside, old[i], e);
    for (size_t i = 0; r == 0 && i < ARRAY_LEN(fresh); i++)
        r = move(v->stage, v->layout.state, fresh[i], e);
    return r;
}

static int place_claims(struct restore *v, struct err *e)
{
    AUTO(free) char *from = xasprintf("%s/node/claims", v->stage);
    AUTO(free) char *to = xasprintf("%s/node/claims", v->layout.state);
    AUTO(free) char *node = xasprintf("%s/node", v->layout.state);
    DIR *d = opendir(from);
    struct dirent *entry;
    int r = d ? file_make_dirs(node, 0700, e) : 0;

    if (d && r == 0)
        r = file_make_dirs(to, 0711, e);
    while (r == 0 && d && (entry = readdir(d))) {
        const char *there = arena_printf(&v->arena, "%s/%s", to, entry->d_name);

        if (entry->d_name[0] == '.')
            continue;
        if (file_exists(there))
            (void)printf("claim %s is kept as it is now\n", entry->d_name);
        else
            r = move(from, to, entry->d_name, e);
    }
    if (d)
        (void)closedir(d);
    return r;
}

static int begin_epoch(struct restore *v, struct err *e)
{
    AUTO(store_free) struct store *s = NULL;
    char host[256] = "";
    struct restore_site from = {jsn_get_str(v->manifest, "host"),
                                jsn_get_str(v->manifest, "state")};
    struct restore_site to = {host, v->layout.state};
    size_t dropped;
    size_t moved;
    int r;

    (void)gethostname(host, sizeof(host) - 1);
    v->place.options.accept = true;
    v->place.options.above = v->seen;
    r = store_open(&v->place.options, &s, e);
    if (r == 0)
        r = restore_adapt(s, &from, &to, &dropped, &moved, e);
    if (r == 0 && dropped)
        (void)printf("%zu %s taken out; pods are made again\n", dropped,
                     word_for(dropped, "pod or node that is not here is",
                              "pods and nodes that are not here are"));
    if (r == 0 && moved)
        (void)printf("%zu %s moved from %s\n", moved,
                     word_for(moved, "volume of a claim has", "volumes of claims have"),
                     from.state);
    return r;
}

static int bring_back(struct restore *v, const char *file, struct err *e)
{
    int r = file_make_dirs(v->stage, 0700, e);

    if (r == 0)
        r = archive_unpack(file, v->stage, e);
    if (r == 0)
        r = read_manifest(v, e);
    if (r == 0)
        r = check_place(v, e);
    if (r == 0)
        r = try_store(v, e);
    if (r < 0)
        return r;
    note_seen(v, v->place.options.mark);
    note_seen(v, v->place.options.witness);
    tell_loss(v);
    r = exchange(v, e);
    if (r == 0)
        r = place_claims(v, e);
    return r < 0 ? r : begin_epoch(v, e);
}

/* Where the old files go: a place that is not there yet, also for a second restore in a second. */
static char *name_aside(const char *state, const char *now)
{
    char *path = xasprintf("%s/before-restore-%s", state, now);

    for (int i = 2; file_exists(path); i++) {
        free(path);
        path = xasprintf("%s/before-restore-%s-%d", state, now, i);
    }
    return path;
}

static int run(struct restore *v, const char *file, struct err *e)
{
    AUTO(close) int lock = -1;
    char now[CLOCK_RFC3339_LEN];
    char id[ENCODE_UUID_LEN + 1];
    int r = archive_check(file, e);

    if (r == 0 && layout_holder(&v->layout) != 0)
        r = err_set(e, -EBUSY, ERR_PERMANENT,
                    "process %d serves '%s': end it first ('kill %d'; pods and jobs run on)",
                    (int)layout_holder(&v->layout), v->layout.state,
                    (int)layout_holder(&v->layout));
    if (r == 0)
        r = layout_make(&v->layout, e);
    if (r < 0)
        return r;
    encode_uuid(id);
    clock_rfc3339(clock_wall_us(), now);
    store_place_init(&v->place, v->layout.state);
    v->stage = xasprintf("%s/restore-%s", v->layout.state, id);
    v->aside = name_aside(v->layout.state, now);
    r = store_place_lock(&v->place, &lock, e);
    if (r == 0)
        r = bring_back(v, file, e);
    (void)!file_remove_tree(v->stage, NULL);
    return r;
}

int verb_restore_run(const struct cli_args *args)
{
    struct restore v = {0};
    const char *const *files;
    struct err e = {0};
    int status;
    int r;

    if (cli_operands(args, &files) != 1)
        return cli_usage_error("restore: name the backup file");
    r = layout_init(&v.layout, reach_state(args), &e);
    v.moved = cli_has(args, "moved");
    if (r == 0)
        r = run(&v, files[0], &e);
    if (r == 0)
        (void)printf("restored. What was there is in %s.\nStart the cluster ('slurmkeeper up'), "
                     "then see 'slurmkeeper recover': pods that run and that the backup does not "
                     "know are kept.\nPeople who were removed since the backup have their access "
                     "again: see 'slurmkeeper user list'.\n",
                     v.aside);
    status = r < 0 ? reach_failure("restore", &v.layout, &e) : 0;
    free(v.stage);
    free(v.aside);
    store_place_done(&v.place);
    layout_done(&v.layout);
    arena_done(&v.arena);
    return status;
}
