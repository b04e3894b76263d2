/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which cluster of this machine is meant.
 *
 * Who serves a cluster keeps a directory for each Controller, CLIENTS/NAMESPACE/NAME; so this needs
 * no API server, and works for any user who may run Slurm's commands.
 */
#include "src/cli/reach.h"

#include <dirent.h>

#include <unistd.h>

#include "src/base/alloc.h"
#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/base/file.h"
#include "src/cluster/node/node.h"
#include "src/local/command.h"
#include "src/local/install.h"

const char *reach_state(const struct cli_args *args)
{
    const char *from_env = getenv("SLURMKEEPER_STATE");

    if (cli_has(args, "state"))
        return cli_get(args, "state");
    return from_env && from_env[0] ? from_env : LAYOUT_STATE;
}

const char *reach_kubeconfig(const struct cli_args *args, struct arena *a)
{
    const char *named = cli_get(args, "kubeconfig");
    const char *home = getenv("HOME");
    const char *own = arena_printf(a, "%s/admin.kubeconfig", reach_state(args));

    if (named || (!cli_has(args, "state") &&
                  (getenv("KUBECONFIG") || getenv("KUBERNETES_SERVICE_HOST") ||
                   (home && access(arena_printf(a, "%s/.kube/config", home), F_OK) == 0))))
        return named;
    return cli_has(args, "state") || access(own, R_OK) == 0 ? own : NULL;
}

int reach_not_served(const char *verb, const struct cli_args *args, const struct layout *l)
{
    const char *state = cli_has(args, "state") ? cli_get(args, "state") : NULL;
    AUTO(free)
    char *up = xasprintf("slurmkeeper up%s%s", state ? " --state " : "", state ? state : "");

    if (node_pods_run(l->state))
        return cli_failure("%s: nobody serves the cluster in '%s'; its pods and jobs run on. '%s' "
                           "serves it again",
                           verb, l->state, up);
    return cli_failure("%s: no cluster runs in '%s': start one with '%s'", verb, l->state, up);
}

int reach_failure(const char *verb, const struct layout *l, const struct err *e)
{
    bool denied = e->num == -EACCES || e->num == -EPERM;

    if (!denied || geteuid() == 0)
        return cli_failure("%s: %s", verb, e->text);
    return cli_failure("%s: %s; the files of the cluster in '%s' are root's alone: run this as "
                       "root, with sudo for instance",
                       verb, e->text, l->state);
}

void reach_use_slurm(const struct layout *l)
{
    AUTO(free) char *prefix = layout_slurm(l);

    if (prefix)
        install_use(prefix);
}

static int is_name(const struct dirent *d)
{
    return d->d_name[0] != '.';
}

static char *find_sack(const char *clients, const char *ns, const char *name)
{
    AUTO(free) char *path = xasprintf("%s/%s/%s/" CLIENTS_SACK, clients, ns, name);
    char to[256];
    ssize_t n = readlink(path, to, sizeof(to) - 1);

    return n > 0 ? str_dup((struct str){to, (size_t)n}) : NULL;
}

static void add(struct reach_clients *c, const char *clients, const char *ns, const char *name)
{
    AUTO(free) char *conf = xasprintf("%s/%s/%s/slurm.conf", clients, ns, name);

    if (!file_exists(conf))
        return;
    c->items = xrealloc(c->items, (c->n + 1) * sizeof(*c->items));
    c->items[c->n++] =
        (struct reach_client){xstrdup(ns), xstrdup(name), TAKE(conf), find_sack(clients, ns, name)};
}

int reach_command(const struct reach_client *c, const char *const *argv, int64_t timeout_ms,
                  char **ret_text, struct err *e)
{
    AUTO(free) char *conf = xasprintf("SLURM_CONF=%s", c->conf);
    /* without a value: one of another cluster, which the shell may have, does not count */
    AUTO(free)
    char *sack =
        c->sack ? xasprintf("SLURM_SACK_SOCKET=%s", c->sack) : xstrdup("SLURM_SACK_SOCKET");
    const char *const env[] = {conf, sack, NULL};

    return command_output(argv, env, timeout_ms, ret_text, e);
}

static void add_namespace(struct reach_clients *c, const char *clients, const char *ns)
{
    AUTO(free) char *dir = xasprintf("%s/%s", clients, ns);
    struct dirent **names = NULL;
    int n = scandir(dir, &names, is_name, alphasort);

    for (int i = 0; i < n; i++) {
        add(c, clients, ns, names[i]->d_name);
        free(names[i]);
    }
    free(names);
}

void reach_list(const struct layout *l, struct reach_clients *ret)
{
    struct dirent **names = NULL;
    int n = scandir(l->clients, &names, is_name, alphasort);

    *ret = (struct reach_clients){0};
    for (int i = 0; i < n; i++) {
        add_namespace(ret, l->clients, names[i]->d_name);
        free(names[i]);
    }
    free(names);
}

void reach_clients_done(struct reach_clients *c)
{
    for (size_t i = 0; i < c->n; i++) {
        free(c->items[i].ns);
        free(c->items[i].name);
        free(c->items[i].conf);
        free(c->items[i].sack);
    }
    free(c->items);
    *c = (struct reach_clients){0};
}

static bool is_meant(const struct reach_client *c, const char *wish)
{
    size_t n = strlen(c->ns);

    return streq(c->name, wish) ||
           (strncmp(wish, c->ns, n) == 0 && wish[n] == '/' && streq(wish + n + 1, c->name));
}

static void list_names(const struct reach_clients *c, struct buf *b)
{
    for (size_t i = 0; i < c->n; i++)
        buf_printf(b, "%s%s/%s", i ? ", " : "", c->items[i].ns, c->items[i].name);
}

const struct reach_client *reach_pick(const struct reach_clients *c, const char *wish,
                                      struct err *e)
{
    AUTO(buf_done) struct buf names = {0};
    const struct reach_client *found = NULL;
    size_t matches = 0;

    for (size_t i = 0; i < c->n; i++) {
        if (wish && !is_meant(&c->items[i], wish))
            continue;
        found = &c->items[i];
        matches++;
    }
    if (matches == 1)
        return found;
    list_names(c, &names);
    if (c->n == 0)
        (void)err_set(e, -ENOENT, ERR_RETRY, "no Controller is declared yet, or none has started");
    else if (matches == 0)
        (void)err_bad(e, "there is no Controller '%s': there is %s", wish, buf_str(&names));
    else
        (void)err_bad(e, "there are several Controllers: name one of %s", buf_str(&names));
    return NULL;
}
