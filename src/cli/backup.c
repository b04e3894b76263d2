/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurmkeeper backup: everything that a cluster needs to come back, in one file.
 *
 *   manifest.json   what it is of: release, cluster, store, version, time
 *   api.db          the objects, of one moment; made by the API server if it runs
 *   keys/           the keys of the Secrets in it: who has the file has the Secrets
 *   pki/            certificates and keys: kubeconfigs that were handed out go on to work
 *   cluster.json    name, port, shares
 *   node/claims/    what claims hold, slurmctld's state among them; of a database of an Accounting
 *                   that runs a dump in place of its files (backup_databases.c)
 *
 * The file is root's alone (0600) and ends with a checksum (archive.c).  Nothing is stopped.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "src/base/alloc.h"
#include "src/base/clock.h"
#include "src/base/encode.h"
#include "src/base/file.h"
#include "src/cli/backup_databases.h"
#include "src/cli/reach.h"
#include "src/cli/verbs.h"
#include "src/cluster/apiserver/store_place.h"
#include "src/local/archive.h"
#include "src/local/ask.h"

#define COPY_MS 600000
#define MAX_ARGS 24
#define MAX_DATABASES 64

struct backup {
    struct layout layout;
    struct arena arena;
    char *stage; /* manifest.json and api.db, until they are in the file */
    const char *store;
    int64_t version;
};

/* Nobody serves it: the copy is made here. */
static int copy_closed(struct backup *b, const struct store_place *place, const char *to,
                       struct err *e)
{
    AUTO(store_free) struct store *s = NULL;
    int r = store_open(&place->options, &s, e);

    if (r == 0)
        r = store_copy(s, to, e);
    if (r < 0)
        return r;
    b->store = arena_printf(&b->arena, "%s/%lld", store_id(s), (long long)store_epoch(s));
    b->version = store_version(s);
    return 0;
}

static int copy_served(struct backup *b, const char *to, struct err *e)
{
    AUTO(ask_free) struct ask *k = NULL;
    struct kube_request r = {.verb = KUBE_CREATE,
                             .resource = {"admin.slurmkeeper.dev", "v1", "backups"},
                             .body = jsn_object(&b->arena),
                             .deadline_ms = COPY_MS};
    struct jsn *answer = NULL;
    const char *path;
    int n = ask_new(b->layout.kubeconfig, &k, e);

    if (n == 0)
        n = ask_call(k, &r, &b->arena, &answer, e);
    if (n < 0)
        return n;
    path = jsn_get_str(answer, "path");
    if (!path || rename(path, to) < 0)
        return err_errno(e, errno, "cannot take '%s'", path ? path : "the copy");
    b->store = jsn_get_str(answer, "store");
    b->version = jsn_get_int(answer, "version", 0);
    return 0;
}

static int copy_store(struct backup *b, struct err *e)
{
    AUTO(store_place_done) struct store_place place = {0};
    AUTO(free) char *to = xasprintf("%s/api.db", b->stage);
    AUTO(close) int lock = -1;
    int r;

    store_place_init(&place, b->layout.state);
    if (!file_exists(place.options.path))
        return err_set(e, -ENOENT, ERR_PERMANENT, "there is no cluster in '%s'", b->layout.state);
    r = store_place_lock(&place, &lock, e);
    return r == -EBUSY ? copy_served(b, to, e) : r < 0 ? r : copy_closed(b, &place, to, e);
}

static int write_manifest(struct backup *b, struct err *e)
{
    AUTO(free) char *path = xasprintf("%s/manifest.json", b->stage);
    AUTO(buf_done) struct buf text = {0};
    AUTO(choices_done) struct choices c = {0};
    struct arena *a = &b->arena;
    struct jsn *m = jsn_object(a);
    char now[CLOCK_RFC3339_LEN];
    char host[256] = "";

    clock_rfc3339(clock_wall_us(), now);
    (void)gethostname(host, sizeof(host) - 1);
    (void)!choices_read(&b->layout, &c, NULL);
    jsn_set_int(a, m, "format", 1);
    jsn_set_str(a, m, "release", SLURMKEEPER_VERSION);
    jsn_set_str(a, m, "created", now);
    jsn_set_str(a, m, "cluster", c.name ? c.name : "");
    jsn_set_str(a, m, "state", b->layout.state);
    jsn_set_str(a, m, "host", host);
    jsn_set_str(a, m, "store", b->store ? b->store : "");
    jsn_set_int(a, m, "version", b->version);
    jsn_print_pretty(&text, m);
    buf_addc(&text, '\n');
    return file_write(path, buf_view(&text), 0600, e);
}

/* What stands in place of the files of databases: dumps. */
static int leave_databases_out(struct backup *b, const char **argv, size_t *n, struct err *e)
{
    AUTO(buf_done) struct buf told = {0};
    struct backup_databases list = {0};
    int r = backup_databases(&b->arena, arena_printf(&b->arena, "%s/node/claims", b->layout.state),
                             &list, &told, e);

    if (r < 0)
        return r;
    (void)fputs(buf_str(&told), stderr);
    if (list.n > MAX_DATABASES)
        return err_set(e, -E2BIG, ERR_PERMANENT, "there are more than %d databases", MAX_DATABASES);
    for (size_t i = 0; i < list.n; i++)
        argv[(*n)++] = arena_printf(&b->arena, "--exclude=node/claims/%s", list.left_out[i]);
    return 0;
}

static int pack(struct backup *b, const struct cli_args *args, int fd, struct err *e)
{
    static const char *const begin[] = {
        "tar", "--create", "--numeric-owner", "--sparse", "--warning=no-file-changed", "-f", "-"};
    static const char *const parts[] = {"keys", "pki", "cluster.json", "node/claims"};
    const char *argv[MAX_ARGS + MAX_DATABASES] = {NULL};
    bool claims = !cli_has(args, "no-claims");
    size_t n = ARRAY_LEN(begin);
    int r;

    memcpy(argv, begin, sizeof(begin));
    r = claims ? leave_databases_out(b, argv, &n, e) : 0;
    if (r < 0)
        return r;
    argv[n++] = "-C";
    argv[n++] = b->stage;
    argv[n++] = "manifest.json";
    argv[n++] = "api.db";
    argv[n++] = "-C";
    argv[n++] = b->layout.state;
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        const char *path = arena_printf(&b->arena, "%s/%s", b->layout.state, parts[i]);

        if (file_exists(path) && (claims || !streq(parts[i], "node/claims")))
            argv[n++] = parts[i];
    }
    return archive_write(fd, argv, e);
}

/* Written under another name, and there only when it is whole.  The name is new: a file that
 * somebody else made and holds open, in /tmp for instance, would show him the keys. */
static int pack_to(struct backup *b, const struct cli_args *args, const char *file, struct err *e)
{
    AUTO(free) char *part = xasprintf("%s.part-XXXXXX", file);
    AUTO(close) int fd = mkostemp(part, O_CLOEXEC);
    int r;

    if (fd < 0)
        return err_errno(e, errno, "cannot make a file beside '%s'", file);
    r = pack(b, args, fd, e);
    if (r == 0 && (fsync(fd) < 0 || rename(part, file) < 0))
        r = err_errno(e, errno, "cannot write '%s'", file);
    if (r < 0)
        (void)unlink(part);
    return r;
}

static int make(struct backup *b, const struct cli_args *args, const char *file, struct err *e)
{
    char id[ENCODE_UUID_LEN + 1];
    int r;

    encode_uuid(id);
    b->stage = xasprintf("%s/backup-%s", b->layout.state, id);
    if (!file_exists(b->layout.state))
        return err_set(e, -ENOENT, ERR_PERMANENT, "there is no cluster in '%s'", b->layout.state);
    r = file_make_dirs(b->stage, 0700, e);
    if (r == 0)
        r = copy_store(b, e);
    if (r == 0)
        r = write_manifest(b, e);
    if (r == 0)
        r = streq(file, "-") ? pack(b, args, STDOUT_FILENO, e) : pack_to(b, args, file, e);
    (void)!file_remove_tree(b->stage, NULL);
    return r;
}

int verb_backup_run(const struct cli_args *args)
{
    struct backup b = {0};
    const char *const *files;
    struct err e = {0};
    int status;
    int r;

    if (cli_operands(args, &files) != 1)
        return cli_usage_error("backup: name the file to write, or - for standard output");
    if (streq(files[0], "-") && isatty(STDOUT_FILENO))
        return cli_usage_error("backup: standard output is a terminal, and the backup has keys");
    r = layout_init(&b.layout, reach_state(args), &e);
    if (r == 0)
        r = make(&b, args, files[0], &e);
    if (r == 0)
        (void)fprintf(stderr,
                      "backup of version %lld written to %s; it has the keys of all Secrets: keep "
                      "it where only you can read it\n",
                      (long long)b.version, streq(files[0], "-") ? "standard output" : files[0]);
    status = r < 0 ? reach_failure("backup", &b.layout, &e) : 0;
    free(b.stage);
    layout_done(&b.layout);
    arena_done(&b.arena);
    return status;
}
