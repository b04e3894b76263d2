/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurmkeeper recover: after a loss or a restore, decide what happens to what still runs.
 *
 * Pods that run on this machine and that the store does not know are kept by the node until a
 * person decides.  Without options they are listed, each with its jobs.  --adopt puts a pod back
 * into the store as it is, so that its owner (NodeSet, StatefulSet) has it again and its jobs live
 * on; --give-up puts it back without an owner and deletes it, which ends its jobs.
 *
 * --accept-loss is for a server that refuses to start since acknowledged writes are missing: what
 * is left is served from then on.  The files as they were are kept beside it.
 */
#include <stdio.h>

#include "src/base/alloc.h"
#include "src/base/clock.h"
#include "src/base/file.h"
#include "src/cli/reach.h"
#include "src/cli/trouble.h"
#include "src/cli/verbs.h"
#include "src/cluster/apiserver/store_place.h"
#include "src/local/ask.h"
#include "src/local/command.h"
#include "src/local/unknown.h"

#define COMMAND_MS 5000

struct recover {
    struct layout layout;
    struct arena arena;
    struct reach_clients clients;
    size_t *answering; /* which of the clients' Slurms answer */
    size_t n_answering;
    struct ask *ask;
    struct jsn *pods;
};

static const char *name_of(struct recover *v, const struct jsn *pod)
{
    return arena_printf(&v->arena, "%s/%s", jsn_get_str(pod, "metadata.namespace"),
                        jsn_get_str(pod, "metadata.name"));
}

/* Slurms that do not answer are asked once, not once for each pod: that takes seconds. */
static void forget_silent(struct recover *v)
{
    const char *const argv[] = {"squeue", "-h", "-o", "%A", NULL};
    size_t n = 0;

    for (size_t i = 0; i < v->clients.n; i++) {
        AUTO(free) char *text = NULL;

        if (reach_command(&v->clients.items[i], argv, COMMAND_MS, &text, NULL) == 0)
            v->answering[n++] = i;
    }
    v->n_answering = n;
}

/* The jobs on a Slurm node of the pod's name: "jobs 3 4"; or that nobody can tell. */
static const char *jobs_of(struct recover *v, const struct jsn *pod)
{
    AUTO(buf_done) struct buf ids = {0};

    for (size_t i = 0; i < v->n_answering; i++) {
        const struct reach_client *c = &v->clients.items[v->answering[i]];
        const char *const argv[] = {"squeue",    "-h", "-t",
                                    "R,CG,S,CF", "-w", jsn_get_str(pod, "metadata.name"),
                                    "-o",        "%A", NULL};
        AUTO(free) char *text = NULL;
        struct str rest, line;

        if (reach_command(c, argv, COMMAND_MS, &text, NULL) < 0)
            continue; /* not a node of this cluster */
        rest = str_of(text);
        while (str_split(&rest, '\n', &line))
            if (line.n)
                buf_printf(&ids, " " STR_FMT, STR_ARG(line));
    }
    if (ids.n)
        return arena_printf(&v->arena, "job%s running:%s",
                            strchr(buf_str(&ids) + 1, ' ') ? "s" : "", buf_str(&ids));
    return v->n_answering && v->n_answering == v->clients.n
               ? "no job is running in it"
               : "slurmctld does not answer: it may run jobs";
}

static void show(struct recover *v)
{
    v->answering = arena_calloc(&v->arena, v->clients.n + 1, sizeof(*v->answering));
    forget_silent(v);
    JSN_FOR_ITEMS (pod, v->pods)
        (void)printf("%-32s %s  started %s; %s\n", name_of(v, pod),
                     jsn_get_str(pod, "metadata.uid"),
                     jsn_get_str(pod, "metadata.creationTimestamp"), jobs_of(v, pod));
    (void)printf(
        "\nThese pods run on, but the store does not know them: it is older than they are, "
        "or another one.\n"
        "  slurmkeeper recover --adopt POD...    put them back; their jobs live on\n"
        "  slurmkeeper recover --give-up POD...  end them; their jobs die\n"
        "--all stands for all of them.\n");
}

static bool is_meant(struct recover *v, const struct jsn *pod, const struct cli_args *args)
{
    const char *const *names;
    size_t n = cli_operands(args, &names);

    for (size_t i = 0; i < n; i++)
        if (streq(names[i], jsn_get_str(pod, "metadata.name")) || streq(names[i], name_of(v, pod)))
            return true;
    return cli_has(args, "all");
}

static int put_back(struct recover *v, struct jsn *pod, const char *why, struct err *e)
{
    const char *const query[] = {"slurmkeeperAdopt", why, NULL};
    struct kube_request r = {.verb = KUBE_CREATE,
                             .resource = resource_pods,
                             .namespace = jsn_get_str(pod, "metadata.namespace"),
                             .query = query,
                             .body = pod};

    jsn_set_str(&v->arena, pod, "kind", "Pod");
    jsn_set_str(&v->arena, pod, "apiVersion", "v1");
    return ask_call(v->ask, &r, &v->arena, NULL, e);
}

static int end_pod(struct recover *v, struct jsn *pod, struct err *e)
{
    struct kube_request r = {.verb = KUBE_DELETE,
                             .resource = resource_pods,
                             .namespace = jsn_get_str(pod, "metadata.namespace"),
                             .name = jsn_get_str(pod, "metadata.name")};
    int n;

    (void)jsn_del_path(pod, "metadata.ownerReferences");
    (void)jsn_del_path(pod, "metadata.finalizers");
    n = put_back(v, pod, "end", e);
    return n < 0 ? n : ask_call(v->ask, &r, &v->arena, NULL, e);
}

static int decide(struct recover *v, const struct cli_args *args)
{
    bool adopt = cli_has(args, "adopt");
    size_t done = 0;
    size_t failed = 0;

    JSN_FOR_ITEMS (pod, v->pods) {
        struct err e = {0};

        if (!is_meant(v, pod, args))
            continue;
        done++;
        if ((adopt ? put_back(v, pod, "true", &e) : end_pod(v, pod, &e)) < 0) {
            (void)cli_failure("recover: pod %s: %s", name_of(v, pod), e.text);
            failed++;
        } else {
            (void)printf("%s: %s\n", name_of(v, pod),
                         adopt ? "adopted; it runs on, and its owner has it again"
                               : "given up; it is being ended");
        }
    }
    if (done == 0)
        return cli_failure("recover: no pod of that name is unknown to the store; 'slurmkeeper "
                           "recover' lists those that are");
    return failed ? 1 : 0;
}

/* What is there goes into a directory of its own before anything is changed. */
static int keep_copy(const struct store_place *p, const char *dir, struct err *e)
{
    static const char *const files[] = {"api.db", "api.db-wal", "api.mark"};
    int r = file_make_dirs(dir, 0700, e);

    for (size_t i = 0; r == 0 && i < ARRAY_LEN(files); i++) {
        AUTO(free) char *from = xasprintf("%s/%s", p->dir, files[i]);
        AUTO(free) char *to = xasprintf("%s/%s", dir, files[i]);

        if (file_exists(from))
            r = file_copy(from, to, 0600, e);
    }
    return r;
}

/* Does the store open as it is? */
static bool is_whole(const struct store_place *p)
{
    AUTO(store_free) struct store *s = NULL;

    return store_place_refuse_emptied(p, NULL) == 0 && store_open(&p->options, &s, NULL) == 0;
}

static int accept_loss(const char *state, struct err *e)
{
    AUTO(store_place_done) struct store_place place = {0};
    AUTO(store_free) struct store *s = NULL;
    AUTO(free) char *kept = NULL;
    AUTO(close) int lock = -1;
    char now[CLOCK_RFC3339_LEN];
    int r;

    clock_rfc3339(clock_wall_us(), now);
    kept = xasprintf("%s/before-recover-%s", state, now);
    store_place_init(&place, state);
    r = store_place_lock(&place, &lock, e);
    if (r == 0 && is_whole(&place)) {
        (void)printf("Nothing is missing from the store: there is no loss to accept.\n");
        return 0;
    }
    place.options.accept = true;
    if (r == 0)
        r = keep_copy(&place, kept, e);
    if (r == 0)
        r = store_open(&place.options, &s, e);
    if (r < 0)
        return r;
    (void)printf("The store is served as it is from now on; versions go on at %lld.\n"
                 "The files as they were are in %s.\n"
                 "Start the cluster ('slurmkeeper up'), then see 'slurmkeeper recover': pods that "
                 "run and that the store does not know are kept.\n",
                 (long long)store_version(s), kept);
    return 0;
}

/* No record tells of an unknown pod: that means something if somebody has looked. */
static int say_none(struct recover *v, const struct cli_args *args)
{
    if (layout_holder(&v->layout) == 0)
        return reach_not_served("recover", args, &v->layout);
    if (!unknown_is_settled(&v->layout))
        return cli_failure("recover: the API server has not answered yet, so nobody knows which "
                           "pods it has; see 'slurmkeeper status'");
    (void)printf("Every pod that runs on this machine is known to the store.\n");
    return 0;
}

static int run(struct recover *v, const struct cli_args *args)
{
    struct err e = {0};

    if (cli_has(args, "accept-loss"))
        return accept_loss(v->layout.state, &e) < 0 ? reach_failure("recover", &v->layout, &e) : 0;
    if (unknown_list(&v->layout, &v->arena, &v->pods, &e) < 0)
        return reach_failure("recover", &v->layout, &e);
    if (jsn_len(v->pods) == 0)
        return say_none(v, args);
    reach_list(&v->layout, &v->clients);
    if (!cli_has(args, "adopt") && !cli_has(args, "give-up")) {
        show(v);
        return 3;
    }
    if (ask_new(v->layout.kubeconfig, &v->ask, &e) < 0)
        return reach_failure("recover", &v->layout, &e);
    return decide(v, args);
}

int verb_recover_run(const struct cli_args *args)
{
    struct recover v = {0};
    struct err e = {0};
    const char *const *names;
    bool named = cli_operands(args, &names) > 0 || cli_has(args, "all");
    int ways = cli_has(args, "adopt") + cli_has(args, "give-up") + cli_has(args, "accept-loss");
    int status;

    if (ways > 1)
        return cli_usage_error("recover: --adopt, --give-up and --accept-loss exclude each other");
    if (named != (cli_has(args, "adopt") || cli_has(args, "give-up")))
        return cli_usage_error("recover: --adopt and --give-up take the names of pods, or --all");
    if (layout_init(&v.layout, reach_state(args), &e) < 0)
        return cli_failure("recover: %s", e.text);
    reach_use_slurm(&v.layout);
    status = run(&v, args);
    (void)ask_free(v.ask);
    reach_clients_done(&v.clients);
    arena_done(&v.arena);
    layout_done(&v.layout);
    return status;
}
