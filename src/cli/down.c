/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurmkeeper down: take the cluster of this machine down.
 *
 * Ends what `up` started, stops the pods and removes bridge, mounts, namespaces and groups.  The
 * declared objects and slurmctld's state stay, and `up` brings the cluster back; --purge removes
 * them as well.  Running jobs would die: as long as there are any, or nobody can tell, it refuses
 * unless --force is given.
 */
#include <signal.h>
#include <stdio.h>
#include <time.h>

#include "src/base/alloc.h"
#include "src/base/clock.h"
#include "src/base/file.h"
#include "src/cli/reach.h"
#include "src/cli/verbs.h"
#include "src/cluster/apiserver/store_place.h"
#include "src/cluster/node/node.h"
#include "src/local/command.h"
#include "src/local/unknown.h"

#define SERVE_ENDS_MS 20000
#define RETIRE_MS 3000

/* The jobs that are at work in a cluster, as "12 13"; empty: none. */
static int running_jobs(const struct reach_client *c, char **ret_ids, struct err *e)
{
    const char *const argv[] = {"squeue", "-h", "-t", "R,CG,S,CF", "-o", "%A", NULL};
    int r = reach_command(c, argv, 10000, ret_ids, e);

    for (char *p = *ret_ids; p && *p; p++)
        if (*p == '\n')
            *p = p[1] ? ' ' : '\0';
    return r;
}

static int check_jobs(const struct layout *l, struct err *e)
{
    AUTO(reach_clients_done) struct reach_clients clients = {0};

    reach_list(l, &clients);
    for (size_t i = 0; i < clients.n; i++) {
        const struct reach_client *c = &clients.items[i];
        AUTO(free) char *ids = NULL;

        if (running_jobs(c, &ids, e) < 0)
            return err_wrap(e, -EBUSY, "Controller %s/%s may have running jobs", c->ns, c->name);
        if (ids[0])
            return err_set(e, -EBUSY, ERR_RETRY, "Controller %s/%s has running jobs: %s", c->ns,
                           c->name, ids);
    }
    return 0;
}

/*
 * May the cluster go?  Not knowing counts as busy.  Pods outlive whoever serves them, and without
 * a server, or before the node has held its pods against the store, nobody knows of their jobs.
 */
static int check_pods(const struct layout *l, struct err *e)
{
    AUTO(arena_done) struct arena a = {0};
    struct jsn *unknown;
    int r;

    if (!node_pods_run(l->state))
        return 0;
    if (layout_holder(l) == 0)
        return err_set(e, -EBUSY, ERR_PERMANENT,
                       "pods run, and nobody serves the cluster, so their jobs are not known; "
                       "bring it up first ('slurmkeeper up')");
    if (!unknown_is_settled(l))
        return err_set(e, -EBUSY, ERR_RETRY,
                       "pods run, and the API server has not answered yet, so their jobs are not "
                       "known; see 'slurmkeeper status'");
    r = unknown_list(l, &a, &unknown, e);
    if (r < 0)
        return r;
    if (jsn_len(unknown) > 0)
        return err_set(e, -EBUSY, ERR_PERMANENT,
                       "pods run that the store does not know, and may have jobs; 'slurmkeeper "
                       "recover' lists them");
    return check_jobs(l, e);
}

/* The nodes of a cluster that nobody has given a reason to yet, as "a,b"; NULL: there is none. */
static char *plain_nodes(const struct reach_client *c)
{
    const char *const argv[] = {"sinfo", "-h", "-N", "-o", "%N %E", NULL};
    AUTO(buf_done) struct buf names = {0};
    AUTO(free) char *text = NULL;
    struct str rest;
    struct str line;

    if (reach_command(c, argv, RETIRE_MS, &text, NULL) < 0)
        return NULL;
    rest = str_of(text);
    while (str_split(&rest, '\n', &line)) {
        struct str name;

        if (str_split(&line, ' ', &name) && str_eqz(str_trim(line), "none"))
            buf_printf(&names, "%s" STR_FMT, names.n ? "," : "", STR_ARG(name));
    }
    return names.n ? xstrdup(buf_str(&names)) : NULL;
}

/*
 * Tell slurmctld that its nodes go: else it would take them for ready when it is back, before they
 * are, and start jobs that wait.  Each slurmd takes its node up again.
 */
static void retire_nodes(const struct layout *l)
{
    AUTO(reach_clients_done) struct reach_clients clients = {0};

    reach_list(l, &clients);
    for (size_t i = 0; i < clients.n; i++) {
        AUTO(free) char *names = plain_nodes(&clients.items[i]);
        AUTO(free) char *which = xasprintf("nodename=%s", names ? names : "");
        const char *const argv[] = {
            "scontrol", "update", which, "state=down", "reason=slurmkeeper: Pod is terminating",
            NULL};
        AUTO(free) char *text = NULL;

        if (names)
            (void)!reach_command(&clients.items[i], argv, RETIRE_MS, &text, NULL);
    }
}

/* A state directory on a disk of its own stays, empty: it is not ours to unmount. */
static int remove_state(const char *path, struct err *e)
{
    int r = file_remove_tree(path, e);

    return r == -EBUSY && file_dir_count(path) == 0 ? 0 : r;
}

/* What is gone is gone, and what is left depends on the moment: say how to get to either end. */
static void on_interrupt(int signo)
{
    static const char text[] = "\nslurmkeeper: down: interrupted, and not all is down: 'up' brings "
                               "the cluster back, 'down --force' takes down what is left\n";

    (void)!write(STDERR_FILENO, text, sizeof(text) - 1);
    _exit(128 + signo);
}

static int take_down(const struct cli_args *args, const struct layout *l, struct choices *c,
                     int64_t grace_s, struct err *e)
{
    struct node_options o = {.state_dir = l->state, .cluster = c->name};
    bool served = layout_holder(l) != 0;
    int r = cli_has(args, "force") ? 0 : check_pods(l, e);

    if (r < 0)
        return err_wrap(e, r, "nothing was done (with --force, jobs die)");
    (void)signal(SIGINT, on_interrupt);
    if (served)
        retire_nodes(l);
    r = layout_end_holder(l, SERVE_ENDS_MS, e);
    if (r == 0)
        r = node_purge(&o, grace_s, e);
    if (r == 0)
        r = file_remove_tree(l->clients, e);
    if (r == 0 && cli_has(args, "purge"))
        store_place_forget(l->state);
    if (r == 0 && cli_has(args, "purge"))
        r = remove_state(l->state, e);
    return r;
}

int verb_down_run(const struct cli_args *args)
{
    AUTO(layout_done) struct layout l = {0};
    AUTO(choices_done) struct choices c = {0};
    int64_t grace_s = 5;
    struct err e = {0};
    int r;

    if (!cli_get_i64(args, "grace", 0, 3600, &grace_s))
        return 2;
    if (geteuid() != 0)
        return cli_failure("down: pods and their networks belong to root: run it with sudo");
    r = layout_init(&l, reach_state(args), &e);
    if (r == 0)
        r = choices_read(&l, &c, &e);
    if (r == -ENOENT) {
        (void)fprintf(stderr, "there is no cluster in '%s'\n", l.state);
        return 0;
    }
    reach_use_slurm(&l);
    if (r == 0)
        r = take_down(args, &l, &c, grace_s, &e);
    return r < 0 ? cli_failure("down: %s", e.text) : 0;
}
