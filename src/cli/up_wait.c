/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The waits of `slurmkeeper up`.
 *
 * Each asks again and again, with the running step's note telling how far it is, until what it
 * waits for is there, time is out, or whoever should bring it about is gone.
 */
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>

#include "src/api/kinds.h"
#include "src/base/alloc.h"
#include "src/base/clock.h"
#include "src/base/file.h"
#include "src/cli/trouble.h"
#include "src/cli/up.h"
#include "src/local/clients.h"
#include "src/local/command.h"
#include "src/local/daemon.h"
#include "src/local/unknown.h"

#define ASK_MS 40
#define COMMAND_MS 4000
#define SETTLE_MS 5000
#define SIGNER_PATIENCE_S 12

/* False when time is out. */
static bool pause_a_little(const struct up *u)
{
    struct timespec t = {0, ASK_MS * 1000000L};

    (void)nanosleep(&t, NULL);
    return clock_mono_ms() < u->deadline_ms;
}

static int still_served(const struct up *u, struct err *e)
{
    AUTO(free) char *words = NULL;
    const char *name;

    if (layout_holder(&u->layout) == 0)
        return err_set(e, -ESRCH, ERR_PERMANENT, "the cluster's processes have ended");
    words = daemon_ailing(u->layout.logs, &name);
    return words ? err_set(e, -ECHILD, ERR_PERMANENT, "the cluster's %s does not start: %s", name,
                           words)
                 : 0;
}

static int has_definitions(struct up *u, struct err *e)
{
    static const struct kube_resource what = {"apiextensions.k8s.io", "v1",
                                              "customresourcedefinitions"};
    struct jsn *items;
    size_t n = 0;
    int r = ask_list(u->ask, &u->arena, &what, NULL, &items, e);

    if (r < 0)
        return r;
    API_FOR_KINDS (k)
        JSN_FOR_ITEMS (item, items)
            n += streq(jsn_get_str(item, "spec.names.kind"), k->kind);
    API_FOR_KINDS (k)
        if (n-- == 0)
            return err_set(e, -EAGAIN, ERR_RETRY, "it has no definition of %s yet", k->kind);
    return 0;
}

int up_wait_api(struct up *u, struct err *e)
{
    struct err last = {0};

    do {
        int r = still_served(u, e);

        if (r < 0)
            return r;
        /* Until it has answered, the file may be that of an earlier start, with another port. */
        u->ask = ask_free(u->ask);
        if (!file_exists(u->layout.kubeconfig) || ask_new(u->layout.kubeconfig, &u->ask, &last) < 0)
            continue;
        if (has_definitions(u, &last) == 0)
            return 0;
    } while (pause_a_little(u));
    return err_set(e, -ETIMEDOUT, ERR_RETRY, "the API server does not answer: %s", last.text);
}

/* One line a node, also of those that are in no partition: "NodeName=a ...
 * State=IDLE+DYNAMIC_NORM". */
static int show_nodes(const struct reach_client *c, char **ret_text, struct err *e)
{
    const char *const argv[] = {"scontrol", "-o", "show", "nodes", NULL};

    return reach_command(c, argv, COMMAND_MS, ret_text, e);
}

/* How many Controllers there are that run here. */
static int count_controllers(struct up *u, size_t *ret, struct err *e)
{
    struct jsn *items;
    int r = ask_list(u->ask, &u->arena, &resource_controllers, NULL, &items, e);

    *ret = 0;
    JSN_FOR_ITEMS (item, items)
        *ret += !jsn_get_bool(item, "spec.external", false);
    return r;
}

static size_t count_answering(const struct reach_clients *clients, struct err *e)
{
    size_t n = 0;

    for (size_t i = 0; i < clients->n; i++) {
        char *text = NULL;

        n += show_nodes(&clients->items[i], &text, e) == 0;
        free(text);
    }
    return n;
}

/* Why commands cannot work, if it stays so: what is in the way may only just be ending. */
static int check_signers(const struct reach_clients *clients, struct err *e)
{
    for (size_t i = 0; i < clients->n; i++) {
        const char *slash = strrchr(clients->items[i].conf, '/');
        AUTO(free)
        char *path = xasprintf("%.*s/" CLIENTS_TROUBLE, (int)(slash - clients->items[i].conf),
                               clients->items[i].conf);
        AUTO(free) char *text = NULL;
        struct stat st;

        if (stat(path, &st) == 0 && time(NULL) - st.st_mtime > SIGNER_PATIENCE_S &&
            file_read(path, 4096, &text, NULL, NULL) == 0)
            return err_set(e, -EBUSY, ERR_PERMANENT,
                           "commands for Controller %s/%s cannot work on this machine: %s",
                           clients->items[i].ns, clients->items[i].name, text);
    }
    return 0;
}

int up_wait_controllers(struct up *u, struct err *e)
{
    struct err last = {0};

    do {
        AUTO(reach_clients_done) struct reach_clients clients = {0};
        size_t wanted = 0;
        size_t up;
        int r = still_served(u, e);

        if (r == 0)
            r = count_controllers(u, &wanted, e);
        if (r < 0)
            return r;
        reach_list(&u->layout, &clients);
        r = check_signers(&clients, e);
        if (r < 0)
            return r;
        up = count_answering(&clients, &last);
        if (up >= wanted)
            return 0;
        steps_note(&u->steps, "%zu of %zu answer", up, wanted);
    } while (pause_a_little(u));
    return err_set(e, -ETIMEDOUT, ERR_RETRY, "slurmctld does not answer: %s", last.text);
}

struct count {
    size_t ready; /* idle, or already at work */
    size_t idle;
};

/* Registered, and as its admin wants it: a base state and flags, as scontrol prints them. */
static bool is_settled(struct str state)
{
    static const char *const bad[] = {"DOWN", "UNKNOWN", "FUTURE", "ERROR", "NOT_RESPONDING"};
    struct str word;

    while (str_split(&state, '+', &word))
        for (size_t i = 0; i < ARRAY_LEN(bad); i++)
            if (str_eqz(word, bad[i]))
                return false;
    return true;
}

static bool is_idle(struct str state)
{
    struct str base;

    if (!str_split(&state, '+', &base) || !str_eqz(base, "IDLE"))
        return false;
    while (str_split(&state, '+', &base))
        if (str_eqz(base, "DRAIN"))
            return false;
    return true;
}

static void count_nodes(const char *text, struct count *c)
{
    struct str rest = str_of(text);
    struct str line;

    while (str_split(&rest, '\n', &line)) {
        struct str word;

        while (str_split(&line, ' ', &word)) {
            struct str state = {word.p + strlen("State="), word.n - strlen("State=")};

            if (word.n <= strlen("State=") || strncmp(word.p, "State=", strlen("State=")) != 0)
                continue;
            c->ready += is_settled(state);
            c->idle += is_settled(state) && is_idle(state);
        }
    }
}

static int count_wanted(struct up *u, size_t *ret, struct err *e)
{
    struct jsn *items;
    int r = ask_list(u->ask, &u->arena, &resource_nodesets, NULL, &items, e);

    *ret = 0;
    JSN_FOR_ITEMS (item, items)
        *ret += (size_t)MAX(0, jsn_get_int(item, "spec.replicas", 1));
    return r;
}

int up_wait_nodes(struct up *u, char *ret_note, size_t n, struct err *e)
{
    struct count c;
    size_t wanted = 0;

    do {
        AUTO(reach_clients_done) struct reach_clients clients = {0};
        int r = still_served(u, e);

        if (r == 0)
            r = count_wanted(u, &wanted, e);
        if (r < 0)
            return r;
        c = (struct count){0};
        reach_list(&u->layout, &clients);
        for (size_t i = 0; i < clients.n; i++) {
            AUTO(free) char *text = NULL;

            if (show_nodes(&clients.items[i], &text, NULL) == 0)
                count_nodes(text, &c);
        }
        if (c.ready >= wanted) {
            (void)snprintf(ret_note, n, "%zu node%s, %zu idle", c.ready, c.ready == 1 ? "" : "s",
                           c.idle);
            return 0;
        }
        steps_note(&u->steps, "%zu of %zu ready", c.ready, wanted);
    } while (pause_a_little(u));
    return err_set(e, -ETIMEDOUT, ERR_RETRY, "%zu of %zu nodes are ready", c.ready, wanted);
}

int up_wait_slurm(struct up *u, struct err *e)
{
    const char *note = "";
    bool done = false;

    do {
        int r = still_served(u, e);

        if (r == 0)
            r = up_slurm_look(u, &done, &note, e);
        if (r < 0 || done)
            return r;
        steps_note(&u->steps, "%s", note);
    } while (pause_a_little(u));
    return err_set(
        e, -ETIMEDOUT, ERR_RETRY,
        "the cluster is not the new Slurm yet, and goes on becoming it; the same command "
        "waits on: %s",
        note);
}

/* Bounded by a few seconds: the cluster is up already. */
int up_wait_settled(struct up *u)
{
    u->deadline_ms = clock_mono_ms() + SETTLE_MS;
    do {
        if (unknown_is_settled(&u->layout))
            return 0;
    } while (pause_a_little(u));
    return -ETIMEDOUT;
}
