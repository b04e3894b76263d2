/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurmkeeper user: people who share the cluster.
 *
 * `add` prints a kubeconfig with a token, or writes it to a new file that only its owner reads;
 * `list` shows who there is; `remove` ends every token of somebody at once.  A file is never
 * replaced, and never given to somebody else: whoever runs this hands it over.
 */
#include <fcntl.h>
#include <stdio.h>

#include "src/base/alloc.h"
#include "src/base/encode.h"
#include "src/base/file.h"
#include "src/cli/reach.h"
#include "src/cli/verbs.h"
#include "src/kube/target.h"
#include "src/local/users.h"

#define DAYS_USUAL 90
#define DAYS_MOST 365
#define CA_MAX_BYTES 65536

struct wish {
    const char *name;
    struct users_grant grant;
    int64_t days;
    const char *file;
};

static const char *const plain_roles[] = {"admin", "edit", "slurm-edit", "view", "cluster-admin"};

static bool is_plain_role(const char *role)
{
    for (size_t i = 0; i < ARRAY_LEN(plain_roles); i++)
        if (streq(role, plain_roles[i]))
            return true;
    return false;
}

/* Which role, and where it holds: 0, or the exit status of a usage error. */
static int read_grant(const struct cli_args *args, struct users_grant *g)
{
    const char *role = cli_get(args, "role");
    const char *other = cli_get(args, "cluster-role");
    const char *ns = cli_get(args, "namespace");
    bool all = cli_has(args, "all-namespaces");

    if (!role == !other)
        return cli_usage_error("user add: give --role (admin, edit, slurm-edit, view or "
                               "cluster-admin) or --cluster-role");
    if (role && !is_plain_role(role))
        return cli_usage_error("user add: --role: '%s' is none of admin, edit, slurm-edit, "
                               "view, cluster-admin; --cluster-role names any other",
                               role);
    if (ns && all)
        return cli_usage_error("user add: --namespace and --all-namespaces exclude each other");
    g->role = role ? role : other;
    if (!all && !(streq(role, "cluster-admin") && !ns))
        g->ns = ns ? ns : "default";
    return 0;
}

static int read_wish(const struct cli_args *args, const char *name, struct wish *w)
{
    int r;

    *w = (struct wish){.name = name, .days = DAYS_USUAL, .file = cli_get(args, "file")};
    if (!users_name_ok(name))
        return cli_usage_error("user add: '%s' cannot be a name: use at most 63 lower-case "
                               "letters, digits and dashes",
                               name);
    r = read_grant(args, &w->grant);
    if (r != 0)
        return r;
    return cli_get_i64(args, "days", 1, DAYS_MOST, &w->days) ? 0 : 2;
}

static int authority_of(const struct kube_target *t, char **ret, struct err *e)
{
    const struct kube_cluster *c = t->cluster;

    *ret = NULL;
    if (c->ca_pem)
        *ret = xstrdup(c->ca_pem);
    else if (c->ca_file)
        return file_read(c->ca_file, CA_MAX_BYTES, ret, NULL, e);
    return 0;
}

static int print_kubeconfig(struct buf *b, const struct kube_target *t, const struct wish *w,
                            const char *token, struct err *e)
{
    AUTO(free) char *ca = NULL;
    int r = authority_of(t, &ca, e);

    if (r < 0)
        return r;
    buf_printf(b,
               "apiVersion: v1\nkind: Config\nclusters:\n- name: slurmkeeper\n  cluster:\n"
               "    server: %s\n",
               t->cluster->server);
    if (ca) {
        buf_adds(b, "    certificate-authority-data: ");
        encode_base64(b, str_of(ca));
        buf_addc(b, '\n');
    }
    buf_printf(b, "users:\n- name: %s\n  user:\n    token: %s\n", w->name, token);
    buf_printf(b,
               "contexts:\n- name: slurmkeeper\n  context:\n    cluster: slurmkeeper\n"
               "    user: %s\n    namespace: %s\ncurrent-context: slurmkeeper\npreferences: {}\n",
               w->name, w->grant.ns ? w->grant.ns : "default");
    return 0;
}

/* A new file, for its owner alone from its first moment on. */
static int write_new(const char *path, struct str text, struct err *e)
{
    AUTO(close) int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

    if (fd < 0)
        return err_errno(e, errno, "cannot make '%s'", path);
    if (file_write_all(fd, text) < 0 || fsync(fd) < 0) {
        (void)unlink(path);
        return err_errno(e, errno, "cannot write '%s'", path);
    }
    return 0;
}

static int hand_over(const struct wish *w, const struct buf *b, struct err *e)
{
    if (w->file)
        return write_new(w->file, buf_view(b), e);
    if (fputs(buf_str(b), stdout) < 0 || fflush(stdout) != 0)
        return err_errno(e, errno, "cannot print the kubeconfig");
    return 0;
}

static int add(struct ask *k, const char *kubeconfig, const struct wish *w, struct err *e)
{
    AUTO(arena_done) struct arena a = {0};
    AUTO(kube_target_free) struct kube_target *t = NULL;
    AUTO(buf_done) struct buf b = {0};
    struct kube_wish which = {.kubeconfig = kubeconfig};
    struct users_token token = {0};
    int r;

    if (w->file && file_exists(w->file))
        return err_set(e, -EEXIST, ERR_PERMANENT, "'%s' is there already; name another --file",
                       w->file);
    r = kube_target_find(&which, &t, e);
    if (r == 0)
        r = users_add(k, &a, w->name, &w->grant, w->days, &token, e);
    if (r == 0)
        r = print_kubeconfig(&b, t, w, token.text, e);
    if (r == 0)
        r = hand_over(w, &b, e);
    if (r == 0)
        (void)fprintf(stderr, "user %s: %s %s%s; the kubeconfig is good until %s\n", w->name,
                      w->grant.role, w->grant.ns ? "in " : "in the whole cluster",
                      w->grant.ns ? w->grant.ns : "", token.until);
    return r;
}

static int list(struct ask *k, struct err *e)
{
    AUTO(arena_done) struct arena a = {0};
    struct jsn *people = NULL;
    int r = users_list(k, &a, &people, e);

    if (r < 0)
        return r;
    if (jsn_len(people) > 0)
        (void)printf("%-20s %-22s %s\n", "NAME", "SINCE", "ROLES");
    JSN_FOR_ITEMS (item, people)
        (void)printf("%-20s %-22s %s\n", jsn_get_str(item, "name"), jsn_get_str(item, "since"),
                     jsn_get_str(item, "roles"));
    return 0;
}

static int take_away(struct ask *k, const char *name, struct err *e)
{
    AUTO(arena_done) struct arena a = {0};

    return users_remove(k, &a, name, e);
}

/* Which of the three, with how many words. */
static int read_words(const struct cli_args *args, const char **ret_what, const char **ret_name)
{
    const char *const *words;
    size_t n = cli_operands(args, &words);
    bool lists = n > 0 && streq(words[0], "list");

    if (n == 0 || (!lists && !streq(words[0], "add") && !streq(words[0], "remove")))
        return cli_usage_error("user: say add NAME, list, or remove NAME");
    if (n != (lists ? 1 : 2))
        return cli_usage_error("user %s: %s", words[0], lists ? "takes no name" : "give one name");
    *ret_what = words[0];
    *ret_name = lists ? NULL : words[1];
    return 0;
}

int verb_user_run(const struct cli_args *args)
{
    AUTO(layout_done) struct layout l = {0};
    AUTO(ask_free) struct ask *k = NULL;
    const char *kubeconfig = cli_get(args, "kubeconfig");
    const char *what = NULL, *name = NULL;
    struct wish w = {0};
    struct err e = {0};
    int r = read_words(args, &what, &name);

    if (r == 0 && streq(what, "add"))
        r = read_wish(args, name, &w);
    if (r != 0)
        return r;
    if (layout_init(&l, reach_state(args), &e) < 0)
        return cli_failure("user: %s", e.text);
    if (!kubeconfig)
        kubeconfig = l.kubeconfig;
    r = ask_new(kubeconfig, &k, &e);
    if (r == 0)
        r = streq(what, "add")    ? add(k, kubeconfig, &w, &e)
            : streq(what, "list") ? list(k, &e)
                                  : take_away(k, name, &e);
    if (r < 0 && kubeconfig == l.kubeconfig)
        return reach_failure("user", &l, &e);
    return r < 0 ? cli_failure("user %s: %s", what, e.text) : 0;
}
